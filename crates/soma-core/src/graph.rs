//! The graph: topology, implementations, placement, and the plan that is kept.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::catalog::{Catalog, snake_case};
use crate::error::{GraphError, RunError};
use crate::executor::{RunOptions, run};
use crate::expression::Expression;
use crate::node::Node;
use crate::placement::{Device, Placement};
use crate::plan::{Plan, compile};
use crate::program::Program;
use crate::topology::{NodeId, Topology};
use crate::value::Value;

/// A network: nodes, the edges between them, and where they run.
///
/// A clone shares the nodes, weights and all; only the topology is its own.
#[derive(Clone, Default)]
pub struct Graph {
    topology: Topology,
    catalog: Catalog,
    placement: Placement,
    /// Per class, the last number a derived id was given.
    derived: HashMap<String, usize>,
    plan: OnceLock<Arc<Plan>>,
    program: OnceLock<Arc<Program>>,
}

impl Graph {
    /// A graph without nodes, which answers its input.
    pub fn new() -> Self {
        Self::default()
    }

    /// The graph an expression describes: its nodes in written order, its edges by whom they lead to.
    ///
    /// # Errors
    /// A name given twice.
    pub fn somatize(expression: impl Into<Expression>) -> Result<Self, GraphError> {
        let mut graph = Self::new();
        graph.extend(&expression.into())?;
        Ok(graph)
    }

    /// Adds what an expression describes, and answers the ids of its nodes in written order.
    ///
    /// # Errors
    /// A name given twice. The nodes before it have been added.
    pub fn extend(&mut self, expression: &Expression) -> Result<Vec<NodeId>, GraphError> {
        let flat = expression.flatten();
        let mut ids = Vec::with_capacity(flat.nodes.len());
        let begin = self.len();
        for leaf in flat.nodes {
            ids.push(self.add(leaf.name.as_deref(), leaf.node, leaf.device)?);
        }
        for (from, to) in flat.edges {
            self.topology.connect(begin + from, begin + to)?;
        }
        self.topology_changed();
        Ok(ids)
    }

    /// Adds a node of that name.
    ///
    /// # Errors
    /// `RepeatedNode`, `EmptyName`.
    pub fn node(&mut self, id: &str, node: impl Node + 'static) -> Result<NodeId, GraphError> {
        self.add(Some(id), Arc::new(node), None)
    }

    /// Adds a node under its kind in snake case, or that with `_2`, `_3`, the first that is free.
    pub fn unnamed(&mut self, node: impl Node + 'static) -> Result<NodeId, GraphError> {
        self.add(None, Arc::new(node), None)
    }

    /// Adds a node: named, or with a derived name; placed or not.
    ///
    /// # Errors
    /// `RepeatedNode`, `EmptyName`.
    pub fn add(
        &mut self,
        id: Option<&str>,
        node: Arc<dyn Node>,
        device: Option<Device>,
    ) -> Result<NodeId, GraphError> {
        let id: NodeId = match id {
            Some("") => return Err(GraphError::EmptyName),
            Some(id) => {
                if let Ok(at) = self.topology.index(id) {
                    return Err(GraphError::RepeatedNode {
                        id: id.to_owned(),
                        first: self.catalog.get(at).map(|node| node.kind().to_owned()).unwrap_or_default(),
                        second: node.kind().to_owned(),
                    });
                }
                id.into()
            }
            None => self.derive(node.kind()),
        };
        self.topology.push(Arc::clone(&id));
        self.catalog.push(node);
        self.placement.push(device);
        self.topology_changed();
        Ok(id)
    }

    /// Adds an edge: what `from` says, `to` is given.
    ///
    /// # Errors
    /// `UnknownNode`, `RepeatedEdge`, `Cycle`.
    pub fn edge(&mut self, from: &str, to: &str) -> Result<(), GraphError> {
        let (from, to) = (self.topology.index(from)?, self.topology.index(to)?);
        self.topology.connect(from, to)?;
        self.topology_changed();
        Ok(())
    }

    /// Places a node, or takes its placement away. The plan stays as it is.
    ///
    /// # Errors
    /// `UnknownNode`.
    pub fn place(&mut self, id: &str, device: Option<Device>) -> Result<(), GraphError> {
        let node = self.topology.index(id)?;
        self.placement.set(node, device);
        self.program = OnceLock::new();
        Ok(())
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.topology.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.topology.is_empty()
    }

    /// Whether a node has that id.
    pub fn contains(&self, id: &str) -> bool {
        self.topology.contains(id)
    }

    /// Ids and edges.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The implementations.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The ids, in declaration order.
    pub fn nodes(&self) -> &[NodeId] {
        self.topology.ids()
    }

    /// The edges, in the order they were added.
    pub fn edges(&self) -> Vec<(NodeId, NodeId)> {
        self.topology.edges().iter().map(|&(from, to)| (self.name(from), self.name(to))).collect()
    }

    /// The nodes nobody sends to, in declaration order.
    pub fn roots(&self) -> Vec<NodeId> {
        self.topology.roots().map(|node| self.name(node)).collect()
    }

    /// The nodes that send to nobody, in declaration order.
    pub fn leaves(&self) -> Vec<NodeId> {
        self.topology.leaves().map(|node| self.name(node)).collect()
    }

    /// Who sends to a node, in edge order.
    ///
    /// # Errors
    /// `UnknownNode`.
    pub fn predecessors(&self, id: &str) -> Result<Vec<NodeId>, GraphError> {
        let node = self.topology.index(id)?;
        Ok(self.topology.predecessors(node).iter().map(|&from| self.name(from)).collect())
    }

    /// Whom a node sends to, in edge order.
    ///
    /// # Errors
    /// `UnknownNode`.
    pub fn successors(&self, id: &str) -> Result<Vec<NodeId>, GraphError> {
        let node = self.topology.index(id)?;
        Ok(self.topology.successors(node).iter().map(|&to| self.name(to)).collect())
    }

    /// The ids in an order in which every edge points forward, declaration order where that is free.
    pub fn topological_sort(&self) -> Vec<NodeId> {
        self.topology.topological_sort().into_iter().map(|node| self.name(node)).collect()
    }

    /// What stands behind an id.
    ///
    /// # Errors
    /// `UnknownNode`.
    #[expect(clippy::missing_panics_doc, reason = "every node is added with its implementation")]
    pub fn implementation(&self, id: &str) -> Result<&Arc<dyn Node>, GraphError> {
        let node = self.topology.index(id)?;
        Ok(self.catalog.get(node).expect("every node has an implementation"))
    }

    /// Where a node is placed; None when it is not.
    ///
    /// # Errors
    /// `UnknownNode`.
    pub fn device(&self, id: &str) -> Result<Option<&Device>, GraphError> {
        Ok(self.placement.get(self.topology.index(id)?))
    }

    /// The placed nodes and their devices, in declaration order.
    pub fn devices(&self) -> Vec<(NodeId, Device)> {
        let placed = |node| self.placement.get(node).map(|device| (self.name(node), device.clone()));
        (0..self.len()).filter_map(placed).collect()
    }

    /// The plan: compiled when first asked for, and kept until a node or an edge is added.
    pub fn plan(&self) -> Arc<Plan> {
        Arc::clone(self.plan.get_or_init(|| Arc::new(compile(&self.topology))))
    }

    /// Runs the graph once: `input` goes to the roots, what the leaves say comes back; a map keyed by leaf
    /// when there are several.
    ///
    /// # Errors
    /// The first failure in declaration order, see [`RunError`].
    pub fn forward(&self, input: Value, options: &RunOptions) -> Result<Value, RunError> {
        self.ready().forward(input, options)
    }

    /// What runs: independent of the graph from here on.
    pub fn ready(&self) -> Ready {
        let program = self.program.get_or_init(|| {
            Arc::new(Program::new(&self.plan(), &self.topology, &self.catalog, &self.placement))
        });
        Ready(Arc::clone(program))
    }

    /// How many times this graph holds each of its nodes; None while a run may hold them too.
    pub fn n_owners(&self) -> Option<usize> {
        match self.program.get() {
            None => Some(1),
            Some(program) => (Arc::strong_count(program) == 1).then_some(2),
        }
    }

    fn name(&self, node: usize) -> NodeId {
        Arc::clone(&self.topology.ids()[node])
    }

    /// The first free name of that class.
    fn derive(&mut self, kind: &str) -> NodeId {
        let base = snake_case(kind);
        let last = self.derived.entry(base.clone()).or_insert(0);
        loop {
            *last += 1;
            let id = if *last == 1 { base.clone() } else { format!("{base}_{last}") };
            if !self.topology.contains(&id) {
                return id.into();
            }
        }
    }

    fn topology_changed(&mut self) {
        self.plan = OnceLock::new();
        self.program = OnceLock::new();
    }
}

/// A graph as it was when it was asked to run: adding to the graph meanwhile does not change it.
#[derive(Clone)]
pub struct Ready(Arc<Program>);

impl Ready {
    /// See [`Graph::forward`].
    pub fn forward(&self, input: Value, options: &RunOptions) -> Result<Value, RunError> {
        run(&self.0, input, options)
    }
}
