//! What `>>` and `|` make before it is a graph.

use std::fmt;
use std::ops::{BitOr, Shr};
use std::sync::Arc;

use crate::error::GraphError;
use crate::node::{FromFn, Node};
use crate::placement::Device;

/// A piece of a network: a node, pieces one after another, or pieces side by side.
///
/// A value like any other: composing it copies nothing and changes no operand, whatever its size, and
/// neither flattening nor dropping it recurses.
///
/// ```
/// # use soma_core::{Expression, Graph, from_fn, Value};
/// # let node = |kind| from_fn(kind, |input: &Value, _: &_| Ok(input.clone().into()));
/// let piece = node("Source") >> (Expression::from(node("Left")) | node("Right")) >> node("Join");
/// assert_eq!(Graph::somatize(piece)?.plan().to_string(), "\
/// sequence
///   source <- input
///   wave
///     left <- source
///     right <- source
///   join <- left, right");
/// # Ok::<(), soma_core::GraphError>(())
/// ```
#[derive(Clone)]
pub struct Expression(Option<Arc<Piece>>);

enum Piece {
    Node(Arc<dyn Node>),
    Named(Expression, Arc<str>),
    Placed(Expression, Device),
    Series(Expression, Expression),
    Parallel(Expression, Expression),
}

/// One word of an expression in postfix form; see [`Expression::tokens`].
#[derive(Clone)]
pub enum Token {
    /// A node.
    Node(Arc<dyn Node>),
    /// The piece before, under that name.
    Named(Arc<str>),
    /// The piece before, placed there.
    Placed(Device),
    /// The two pieces before, one after the other.
    Series,
    /// The two pieces before, side by side.
    Parallel,
}

/// An expression as nodes and edges, by position.
pub(crate) struct Flat {
    pub(crate) nodes: Vec<Leaf>,
    pub(crate) edges: Vec<(usize, usize)>,
}

/// A node of an expression.
pub(crate) struct Leaf {
    pub(crate) node: Arc<dyn Node>,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) device: Option<Device>,
}

impl Expression {
    /// One node that is shared with others, or whose type is not known here.
    pub fn shared(node: Arc<dyn Node>) -> Self {
        Self(Some(Arc::new(Piece::Node(node))))
    }

    /// This piece, then `next`: whatever ends here leads to whatever begins there.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        Self(Some(Arc::new(Piece::Series(self.clone(), next.clone()))))
    }

    /// This piece and `other` side by side.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        Self(Some(Arc::new(Piece::Parallel(self.clone(), other.clone()))))
    }

    /// The same node under a name of its own; of two names the last counts.
    ///
    /// # Errors
    /// `NamedPiece` when this is not one node, `EmptyName`.
    pub fn named(&self, name: &str) -> Result<Self, GraphError> {
        if name.is_empty() {
            return Err(GraphError::EmptyName);
        }
        let n_nodes = self.len();
        if n_nodes != 1 {
            return Err(GraphError::NamedPiece { name: name.to_owned(), n_nodes });
        }
        Ok(Self(Some(Arc::new(Piece::Named(self.clone(), name.into())))))
    }

    /// The same piece, its nodes placed there unless they are placed already: the innermost wins.
    #[must_use]
    pub fn on(&self, device: Device) -> Self {
        Self(Some(Arc::new(Piece::Placed(self.clone(), device))))
    }

    /// How many nodes it has; one that appears twice counts twice. Never zero.
    #[allow(clippy::len_without_is_empty, reason = "an expression has at least one node")]
    pub fn len(&self) -> usize {
        let (mut n_nodes, mut waiting) = (0, vec![self]);
        while let Some(piece) = waiting.pop() {
            match piece.piece() {
                Piece::Node(_) => n_nodes += 1,
                Piece::Named(inner, _) | Piece::Placed(inner, _) => waiting.push(inner),
                Piece::Series(left, right) | Piece::Parallel(left, right) => waiting.extend([left, right]),
            }
        }
        n_nodes
    }

    /// The expression in postfix form, which nests nothing: `a >> (b | c)` is `a b c | >>`.
    pub fn tokens(&self) -> Vec<Token> {
        // Read from the end it is prefix form with the right piece first.
        let (mut tokens, mut waiting) = (Vec::new(), vec![self]);
        while let Some(piece) = waiting.pop() {
            let (token, inner): (_, &[&Self]) = match piece.piece() {
                Piece::Node(node) => (Token::Node(Arc::clone(node)), &[]),
                Piece::Named(inner, name) => (Token::Named(Arc::clone(name)), &[inner]),
                Piece::Placed(inner, device) => (Token::Placed(device.clone()), &[inner]),
                Piece::Series(left, right) => (Token::Series, &[left, right]),
                Piece::Parallel(left, right) => (Token::Parallel, &[left, right]),
            };
            tokens.push(token);
            waiting.extend(inner);
        }
        tokens.reverse();
        tokens
    }

    /// The expression of that postfix form; None when the words are not one expression.
    pub fn from_tokens(tokens: impl IntoIterator<Item = Token>) -> Option<Self> {
        let mut pieces: Vec<Self> = Vec::new();
        for token in tokens {
            let piece = match token {
                Token::Node(node) => Self::shared(node),
                Token::Named(name) => pieces.pop()?.named(&name).ok()?,
                Token::Placed(device) => pieces.pop()?.on(device),
                Token::Series => {
                    let right = pieces.pop()?;
                    pieces.pop()?.then(&right)
                }
                Token::Parallel => {
                    let right = pieces.pop()?;
                    pieces.pop()?.beside(&right)
                }
            };
            pieces.push(piece);
        }
        let whole = pieces.pop()?;
        pieces.is_empty().then_some(whole)
    }

    fn piece(&self) -> &Piece {
        self.0.as_deref().expect("an expression is emptied only as it is dropped")
    }

    /// Its nodes in written order, and its edges ordered by whom they lead to.
    pub(crate) fn flatten(&self) -> Flat {
        let mut nodes = Vec::new();
        let mut edges = Vec::new();
        // Per finished piece: the nodes it begins with and those it ends with.
        let mut ends: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        let mut waiting = vec![Todo::Open(self, Marks::default())];
        while let Some(todo) = waiting.pop() {
            match todo {
                Todo::Open(piece, marks) => match piece.piece() {
                    Piece::Node(node) => {
                        let at = nodes.len();
                        nodes.push(Leaf {
                            node: Arc::clone(node),
                            name: marks.name.cloned(),
                            device: marks.device.cloned(),
                        });
                        ends.push((vec![at], vec![at]));
                    }
                    // From the outside in: the outer name is the last given, the inner device the nearer.
                    Piece::Named(inner, name) => {
                        waiting.push(Todo::Open(inner, Marks { name: marks.name.or(Some(name)), ..marks }));
                    }
                    Piece::Placed(inner, device) => {
                        waiting.push(Todo::Open(inner, Marks { device: Some(device), ..marks }));
                    }
                    Piece::Series(left, right) => {
                        waiting.extend([Todo::Join, Todo::Open(right, marks), Todo::Open(left, marks)]);
                    }
                    Piece::Parallel(left, right) => {
                        waiting.extend([Todo::Merge, Todo::Open(right, marks), Todo::Open(left, marks)]);
                    }
                },
                Todo::Join => {
                    let (right, left) = (ends.pop().unwrap_or_default(), ends.pop().unwrap_or_default());
                    for &to in &right.0 {
                        edges.extend(left.1.iter().map(|&from| (from, to)));
                    }
                    ends.push((left.0, right.1));
                }
                Todo::Merge => {
                    let (mut right, mut left) =
                        (ends.pop().unwrap_or_default(), ends.pop().unwrap_or_default());
                    left.0.append(&mut right.0);
                    left.1.append(&mut right.1);
                    ends.push(left);
                }
            }
        }
        // Brackets must not show: `(a >> b) >> c` and `a >> (b >> c)` give the same edges in the same order.
        edges.sort_by_key(|&(_, to)| to);
        Flat { nodes, edges }
    }
}

/// What the surroundings of a piece say about its nodes.
#[derive(Clone, Copy, Default)]
struct Marks<'a> {
    name: Option<&'a Arc<str>>,
    device: Option<&'a Device>,
}

enum Todo<'a> {
    Open(&'a Expression, Marks<'a>),
    Join,
    Merge,
}

impl Drop for Expression {
    fn drop(&mut self) {
        let mut waiting = Vec::new();
        let mut own = self.0.take().and_then(Arc::into_inner);
        loop {
            match own {
                Some(Piece::Node(_)) | None => {}
                Some(Piece::Named(mut inner, _) | Piece::Placed(mut inner, _)) => {
                    waiting.extend(inner.0.take());
                }
                Some(Piece::Series(mut left, mut right) | Piece::Parallel(mut left, mut right)) => {
                    waiting.extend(left.0.take());
                    waiting.extend(right.0.take());
                }
            }
            match waiting.pop() {
                Some(next) => own = Arc::into_inner(next),
                None => return,
            }
        }
    }
}

/// How many nodes are spelled out.
const SHOWN: usize = 8;

/// As it would be written, names for nodes; a large one by its size.
impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_nodes = self.len();
        if n_nodes > SHOWN {
            return write!(f, "Expression({n_nodes} nodes)");
        }
        // Per finished piece: its text, and whether a `|` in it would come apart next to a `>>`.
        let mut pieces: Vec<(String, bool)> = Vec::new();
        let bracketed = |(text, is_open): (String, bool)| if is_open { format!("({text})") } else { text };
        for token in self.tokens() {
            let text = match token {
                Token::Node(node) => (node.kind().to_owned(), false),
                Token::Named(name) => {
                    pieces.pop();
                    (name.to_string(), false)
                }
                Token::Placed(device) => {
                    (format!("{}@{device}", bracketed(pieces.pop().unwrap_or_default())), false)
                }
                Token::Series => {
                    let (right, left) = (pieces.pop().unwrap_or_default(), pieces.pop().unwrap_or_default());
                    (format!("{} >> {}", bracketed(left), bracketed(right)), false)
                }
                Token::Parallel => {
                    let (right, left) = (pieces.pop().unwrap_or_default(), pieces.pop().unwrap_or_default());
                    (format!("{} | {}", left.0, right.0), true)
                }
            };
            pieces.push(text);
        }
        write!(f, "Expression({})", pieces.pop().unwrap_or_default().0)
    }
}

impl<N: Node + 'static> From<N> for Expression {
    fn from(node: N) -> Self {
        Self::shared(Arc::new(node))
    }
}

impl<R: Into<Expression>> Shr<R> for Expression {
    type Output = Expression;

    fn shr(self, next: R) -> Expression {
        self.then(&next.into())
    }
}

impl<R: Into<Expression>> BitOr<R> for Expression {
    type Output = Expression;

    fn bitor(self, other: R) -> Expression {
        self.beside(&other.into())
    }
}

impl<F, R: Into<Expression>> Shr<R> for FromFn<F>
where
    FromFn<F>: Node + 'static,
{
    type Output = Expression;

    fn shr(self, next: R) -> Expression {
        Expression::from(self) >> next
    }
}

impl<F, R: Into<Expression>> BitOr<R> for FromFn<F>
where
    FromFn<F>: Node + 'static,
{
    type Output = Expression;

    fn bitor(self, other: R) -> Expression {
        Expression::from(self) | other
    }
}
