//! Parcels in a depot.

use std::fmt;

/// How many fit.
pub const CAPACITY: usize = 12;
static NAME: &str = "depot";
static mut COUNTER: u32 = 0;

/// A parcel.
///
/// It has a weight.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Parcel<'a> {
    /// in kg
    weight: f64,
    label: &'a str,
}

struct Unit;
pub struct Meters(pub f64);

#[derive(Debug)]

/* block comment */
enum Size { Small, Large { extra: u8 } }

union Bits { int: u32, float: f32 }

type Result<T> = std::result::Result<T, Error>;

/** Carries things. */
pub trait Carrier: Send {
    const LIMIT: u32 = 1;
    type Load;

    /// Loads it.
    fn load(&mut self, load: Self::Load) -> bool;
    fn unload(&mut self) {}
}

impl<'a> Parcel<'a> {
    pub const EMPTY: f64 = 0.0;

    /// Makes one.
    #[inline]
    pub fn new(weight: f64, label: &'a str) -> Self
    where
        'a: 'static,
    {
        fn check(weight: f64) -> f64 {
            weight
        }
        const LOCAL: u8 = 1;
        let closure = |x: u8| { const INNER: u8 = 2; x + INNER + LOCAL };
        Self { weight: check(weight), label }
    }

    async unsafe fn weigh(&self) {}
}

impl<'a> fmt::Display for Parcel<'a> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "{}", self.label) }
}

impl Carrier for Vec<Meters> {
    type Load = u8;
    fn load(&mut self, _: u8) -> bool { true }
}

impl From<&str> for Box<dyn Carrier<Load = u8>> { fn from(_: &str) -> Self { todo!() } }
impl Carrier for &mut Unit { type Load = u8; fn load(&mut self, _: u8) -> bool { false } }
impl Drop for (u8, Unit) { fn drop(&mut self) {} }

/// Makes a map.
#[macro_export]
macro_rules! map {
    ($($key:expr => $value:expr),*) => { [$(($key, $value)),*] };
    () => { [] };
}

cfg_if! {
    if #[cfg(unix)] {
        // For unix.
        fn platform() -> u8 { 1 }
        pub fn setup(x: u8) { fn nested() {} }
    } else {
        impl Unit { fn other<T>(self, x: T) -> T { x } }
    }
}

cfg_rt! {
    /// Runs it.
    #[track_caller]
    pub fn spawn<F, R>(work: F) -> Handle<R>
    where
        F: FnOnce() -> R,
    {
        const LOCAL: u8 = 1;
        fn inside<T>(x: T) -> T { x }
        inside(work)
    }

    cfg_unstable! {
        /// Traced.
        pub(crate) trait Traced { fn trace(&self) -> u8; }
    }

    impl<T> Unit {
        crate::cfg_time! { pub(super) fn sleep<D>(&self, time: D) -> D { time } }
    }
}

lazy_static! {
    /// One for all.
    static ref DEPOT: Vec<u8> = Vec::new();
}
thread_local! { static LAST: Cell<u8> = const { Cell::new(0) } }

bitflags! {
    /// What it may.
    #[derive(Clone)]
    pub struct Rights: u32 {
        const READ = 1;
    }
}

property! {
    /// Holds for all.
    #[test]
    fn adds(a in 0..10) { assert!(a + 1 > a) }
}

select! { first => { let x = fn_of(y); } }

extern "C" {
    fn external(x: i32) -> i32;
}

pub mod outer {
    pub mod inner { pub fn deep() {} }
}
mod elsewhere;

fn one() {} fn two() {}

#[cfg(test)]
mod tests {
    use super::*;

    fn helper() {}

    /// Checks that it fits.
    #[test]
    #[should_panic]
    fn fits() {
        helper();
    }

    #[tokio::test]
    async fn waits() {}
}
