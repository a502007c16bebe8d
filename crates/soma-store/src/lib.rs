//! soma-store
