//! Samplers: golden values, and what each promises about its points.

use soma_study::{History, IntOptions, RealOptions, Sampler, Space};

fn seed_space() -> Space {
    Space::new()
        .real("lr", 1e-4, 1e-1, RealOptions::default().with_log(true))
        .unwrap()
        .int("width", 8, 64, IntOptions::default())
        .unwrap()
        .choice("opt", ["adam", "sgd"])
        .unwrap()
}

#[test]
fn sobol_gives_the_points_of_the_notebook_digit_for_digit() {
    let space = seed_space();
    assert_eq!(space.to_string(), "Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))");
    let expected = [
        "lr=0.002771855228616633,width=44,opt=sgd",
        "lr=0.08765375866675294,width=15,opt=adam",
        "lr=0.015587287424960756,width=58,opt=sgd",
        "lr=0.0004929133080657691,width=29,opt=adam",
    ];
    for (trial, text) in expected.into_iter().enumerate() {
        let point = Sampler::sobol(0).ask(&space, trial as u64, &History::new()).unwrap();
        assert_eq!(point.to_string(), text);
        assert_eq!(space.parse_point(text).unwrap(), point);
    }
}
