//! soma-core
