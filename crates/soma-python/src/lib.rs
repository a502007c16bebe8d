//! soma-python
