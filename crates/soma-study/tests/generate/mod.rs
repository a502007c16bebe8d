//! Spaces and points at random, of every kind there is, from a number.

use soma_study::{Domain, IntOptions, Point, RealOptions, Scalar, Space};

/// splitmix64, for tests alone.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// Any finite float: from bits, from few digits, or one of the ends.
    pub fn float(&mut self) -> f64 {
        match self.below(4) {
            0 => loop {
                let value = f64::from_bits(self.next());
                if value.is_finite() {
                    break value;
                }
            },
            1 => (self.below(2001) as f64 - 1000.0) / 10f64.powi(self.below(6) as i32),
            2 => {
                *self.pick(&[0.0, -0.0, 1.0, f64::MIN, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e16, 1e-5, 0.1])
            }
            _ => self.next() as f64 / u64::MAX as f64,
        }
    }

    pub fn int(&mut self) -> i64 {
        match self.below(3) {
            0 => self.next() as i64,
            1 => self.below(201) as i64 - 100,
            _ => *self.pick(&[0, 1, -1, i64::MIN, i64::MAX]),
        }
    }

    pub fn word(&mut self) -> String {
        const ODD: [&str; 34] = [
            "64",
            "-1",
            "1.5",
            "1e5",
            ".5",
            "inf",
            "-inf",
            "NaN",
            "nan",
            "none",
            "None",
            "null",
            "true",
            "True",
            "false",
            "a,b",
            "a=b",
            "a|b",
            "a b",
            " ",
            "",
            "\"",
            "'",
            "\\",
            "\n",
            "\t\r",
            "(",
            ")",
            "é",
            "日本",
            "\u{0}",
            "\u{2028}",
            "when opt=sgd",
            "Space(x=real(0,1))",
        ];
        match self.below(3) {
            0 => (*self.pick(&ODD)).to_owned(),
            1 => (0..self.below(8)).map(|_| char::from(b' ' + self.below(95) as u8)).collect(),
            _ => format!("word{}", self.below(1000)),
        }
    }

    fn scalar(&mut self) -> Scalar {
        match self.below(6) {
            0 => Scalar::Null,
            1 => Scalar::Bool(self.is(50)),
            2 => Scalar::Int(self.int()),
            3 => Scalar::Float(self.float()),
            _ => Scalar::Text(self.word()),
        }
    }
}

/// A space with up to six dimensions.
pub fn space(rng: &mut Rng) -> Space {
    let mut space = Space::new();
    for _ in 0..rng.below(7) {
        let name = rng.word();
        let more = match rng.below(3) {
            0 => {
                let (a, b) = (rng.float(), rng.float());
                let options = RealOptions::default().with_log(rng.is(40));
                let options = if rng.is(30) { options.with_step(rng.float().abs()) } else { options };
                space.real(&name, a.min(b), a.max(b), options)
            }
            1 => {
                let (a, b) = (rng.int(), rng.int());
                let options = IntOptions::default().with_log(rng.is(40));
                let options =
                    if rng.is(30) { options.with_step(rng.int().saturating_abs()) } else { options };
                space.int(&name, a.min(b), a.max(b), options)
            }
            _ => {
                let n = 1 + rng.below(6);
                space.choice(&name, (0..n).map(|_| rng.scalar()).collect::<Vec<_>>())
            }
        };
        // What is refused is left out: refusals have tests of their own.
        let Ok(more) = more else { continue };
        space = conditioned(rng, &more).unwrap_or(more);
    }
    space
}

fn conditioned(rng: &mut Rng, space: &Space) -> Option<Space> {
    let parents = space.dimensions().len().checked_sub(1).filter(|n| *n > 0)?;
    if !rng.is(40) {
        return None;
    }
    let parent = &space.dimensions()[rng.below(parents as u64) as usize];
    let value = match &parent.domain {
        Domain::Choice { options } => rng.pick(options).clone(),
        Domain::Int { low, .. } => Scalar::Int(*low),
        _ => return None,
    };
    space.when(&parent.name, [value]).ok()
}

/// A point of a space.
pub fn point(rng: &mut Rng, space: &Space) -> Point {
    let sampler = soma_study::Sampler::random_with(
        soma_study::RandomOptions::default().with_seed(rng.next()).with_repeats(true),
    );
    sampler.ask(space, rng.next(), &soma_study::History::new()).expect("random draws have no end")
}
