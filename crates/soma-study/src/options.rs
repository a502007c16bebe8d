//! Options travel as a struct with `Default` and a setter per field.

/// The setters of a struct of options: `with_warmup(warmup: usize) => warmup` sets the field `warmup` to that value.
macro_rules! setters {
    ($options:ident { $($set:ident($field:ident: $type:ty) => $value:expr,)+ }) => {
        impl $options {
            $(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                #[must_use]
                pub const fn $set(mut self, $field: $type) -> Self {
                    self.$field = $value;
                    self
                }
            )+
        }
    };
}

pub(crate) use setters;
