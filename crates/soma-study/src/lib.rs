//! soma-study
