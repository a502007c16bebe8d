//! `Expression`: what `>>` and `|` make of nodes.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyNotImplemented, PyString};
use soma_core::{Expression, Token};

use crate::device::device;
use crate::error::IntoPyError;
use crate::node::{nearly, node_class, object_of, shared};

/// A piece of a network: a node, pieces one after another, or pieces side by side. `Graph.somatize` makes
/// a graph of it. Composing pieces copies nothing and changes no operand.
#[pyclass(name = "Expression", module = "somatize", frozen)]
pub struct PyExpression(pub Expression);

/// The object as a piece; None when it is neither an expression nor a node.
pub fn piece(object: &Bound<'_, PyAny>) -> PyResult<Option<Expression>> {
    if let Ok(expression) = object.cast::<PyExpression>() {
        return Ok(Some(expression.get().0.clone()));
    }
    if object.is_instance(node_class(object.py())?)? {
        return Ok(Some(Expression::shared(shared(object)?)));
    }
    Ok(None)
}

/// `NotImplemented`, so that Python asks the other operand or says so; what is nearly a node is refused in words.
fn foreign<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match nearly(object)? {
        Some(text) => Err(PyTypeError::new_err(text)),
        None => Ok(PyNotImplemented::get(object.py()).to_owned().into_any()),
    }
}

/// `left` and `right` as pieces, composed; [`foreign`] where one is no piece.
fn composed<'py>(
    left: &Bound<'py, PyAny>,
    right: &Bound<'py, PyAny>,
    compose: impl FnOnce(&Expression, &Expression) -> Expression,
) -> PyResult<Bound<'py, PyAny>> {
    let py = left.py();
    match (piece(left)?, piece(right)?) {
        (Some(left), Some(right)) => Ok(Bound::new(py, PyExpression(compose(&left, &right)))?.into_any()),
        (Some(_), None) => foreign(right),
        (None, Some(_)) => foreign(left),
        (None, None) => Ok(PyNotImplemented::get(py).to_owned().into_any()),
    }
}

#[pymethods]
impl PyExpression {
    fn __rshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        composed(slf.as_any(), other, Expression::then)
    }

    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        composed(slf.as_any(), other, Expression::beside)
    }

    fn __rrshift__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        composed(other, slf.as_any(), Expression::then)
    }

    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        composed(other, slf.as_any(), Expression::beside)
    }

    /// The same node under a name of its own.
    ///
    /// Raises:
    ///     GraphError: It is a piece of several nodes, or the name is empty.
    fn named(&self, py: Python<'_>, name: &str) -> PyResult<Self> {
        self.0.named(name).map(Self).map_err(|error| error.into_py_error(py))
    }

    /// The same piece, its nodes placed there unless they are placed already: the innermost wins.
    ///
    /// Raises:
    ///     DeviceError: `device` is not the name of a device.
    fn on(&self, device: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(self.0.on(self::device(device)?)))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }

    /// Pickled in postfix form, which nests nothing however long the expression is.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Vec<Word>,))> {
        let word = |token: Token| -> PyResult<Word> {
            Ok(match token {
                Token::Node(node) => ("node".to_owned(), Some(object_of(py, &*node))),
                Token::Named(name) => ("named".to_owned(), Some(text(py, &name))),
                Token::Placed(device) => ("on".to_owned(), Some(text(py, device.as_str()))),
                Token::Series => (">>".to_owned(), None),
                Token::Parallel => ("|".to_owned(), None),
            })
        };
        let words: Vec<Word> = self.0.tokens().into_iter().map(word).collect::<PyResult<_>>()?;
        Ok((py.import("somatize._somatize")?.getattr("_expression")?, (words,)))
    }
}

/// `left >> right` for a node on the left.
#[pyfunction]
fn then<'py>(left: &Bound<'py, PyAny>, right: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    composed(left, right, Expression::then)
}

/// `left | right` for a node on the left.
#[pyfunction]
fn beside<'py>(left: &Bound<'py, PyAny>, right: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    composed(left, right, Expression::beside)
}

/// One node as an expression.
#[pyfunction]
fn expression(node: &Bound<'_, PyAny>) -> PyResult<PyExpression> {
    Ok(PyExpression(Expression::shared(shared(node)?)))
}

/// A word of an expression's postfix form.
type Word = (String, Option<Py<PyAny>>);

fn text(py: Python<'_>, text: &str) -> Py<PyAny> {
    PyString::new(py, text).into_any().unbind()
}

/// The expression of a pickled postfix form.
#[pyfunction]
fn _expression(py: Python<'_>, words: Vec<Word>) -> PyResult<PyExpression> {
    let token = |(word, with): Word| -> PyResult<Token> {
        let with = with.unwrap_or_else(|| py.None()).into_bound(py);
        Ok(match &*word {
            "node" => Token::Node(shared(&with)?),
            "named" => Token::Named(with.extract::<String>()?.into()),
            "on" => Token::Placed(device(&with)?),
            ">>" => Token::Series,
            _ => Token::Parallel,
        })
    };
    let tokens: Vec<Token> = words.into_iter().map(token).collect::<PyResult<_>>()?;
    let whole = Expression::from_tokens(tokens);
    whole.map(PyExpression).ok_or_else(|| PyValueError::new_err("these words are no expression"))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyExpression>()?;
    module.add_function(wrap_pyfunction!(then, module)?)?;
    module.add_function(wrap_pyfunction!(beside, module)?)?;
    module.add_function(wrap_pyfunction!(expression, module)?)?;
    module.add_function(wrap_pyfunction!(_expression, module)?)
}
