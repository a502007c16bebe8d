//! soma-cli
