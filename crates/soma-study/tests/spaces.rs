//! Spaces and points: what they hold, what they refuse, and how they say so.

use soma_study::{Domain, IntOptions, Point, RealOptions, Scalar, Space, SpaceError};

fn real(low: f64, high: f64) -> Result<Space, SpaceError> {
    Space::new().real("x", low, high, RealOptions::default())
}

fn log() -> RealOptions {
    RealOptions::default().with_log(true)
}

#[test]
fn the_text_of_a_space_is_that_of_the_notebook() {
    let space = Space::new()
        .real("lr", 1e-4, 1e-1, log())
        .unwrap()
        .int("width", 8, 64, IntOptions::default())
        .unwrap()
        .choice("opt", ["adam", "sgd"])
        .unwrap();
    assert_eq!(space.to_string(), "Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))");
    assert_eq!(format!("{space:?}"), space.to_string());
}

#[test]
fn c10_bad_bounds_are_refused_where_they_are_given_and_name_the_dimension() {
    let ints = |low, high, options| Space::new().int("x", low, high, options);
    let refused: [(Result<Space, SpaceError>, &str); 14] = [
        (Space::new().real("x", 0.0, 1.0, log()), "`x` is logarithmic and was given low 0, expected above 0"),
        (
            Space::new().real("x", -1.0, 1.0, log()),
            "`x` is logarithmic and was given low -1, expected above 0",
        ),
        (
            ints(0, 8, IntOptions::default().with_log(true)),
            "`x` is logarithmic and was given low 0, expected above 0",
        ),
        (real(1.0, 0.0), "`x` was given low 1 and high 0, expected low at most high"),
        (ints(3, 1, IntOptions::default()), "`x` was given low 3 and high 1, expected low at most high"),
        (real(f64::NAN, 1.0), "`x` was given low NaN, expected a finite number"),
        (real(0.0, f64::INFINITY), "`x` was given high inf, expected a finite number"),
        (Space::new().choice("x", Vec::<Scalar>::new()), "`x` was given no options, expected at least one"),
        (
            Space::new().choice("x", ["a", "b", "a"]),
            "`x` was given the option a twice, expected each option once",
        ),
        (Space::new().choice("x", [f64::NAN]), "`x` was given the option NaN, expected a finite number"),
        (
            Space::new().real("x", 0.0, 1.0, RealOptions::default().with_step(0.0)),
            "`x` was given step 0, expected above 0, and at least 2^-40 of the larger end",
        ),
        (ints(0, 9, IntOptions::default().with_step(-2)), "`x` was given step -2, expected at least 1"),
        (
            Space::new().real("x", 1.0, 2.0, log().with_step(0.1)),
            "`x` was given a step and `log`, expected one of the two",
        ),
        (real(0.0, 1.0).unwrap().choice("x", [1]), "`x` was given twice, expected each dimension once"),
    ];
    for (result, text) in refused {
        assert_eq!(result.unwrap_err().to_string(), text);
    }
    assert_eq!(Space::new().choice("", [1]).unwrap_err(), SpaceError::EmptyName);
}

#[test]
fn c10_a_real_written_with_whole_numbers_yields_fractions() {
    let space = real(0.0, 1.0).unwrap();
    let point = space.parse_point("x=0.25").unwrap();
    assert_eq!(point.get("x"), Some(&Scalar::Float(0.25)));
    assert_eq!(Point::from_values(&space, [("x", 1)]).unwrap().get("x"), Some(&Scalar::Float(1.0)));
}

#[test]
fn c11_options_keep_their_type() {
    let options = [
        Scalar::Int(64),
        Scalar::Float(64.0),
        Scalar::Text("64".into()),
        Scalar::Bool(true),
        Scalar::Text("true".into()),
        Scalar::Null,
        Scalar::Text("none".into()),
    ];
    let space = Space::new().choice("x", options.clone()).unwrap();
    assert_eq!(space.to_string(), r#"Space(x=choice(64|64.0|"64"|true|"true"|none|"none"))"#);
    for option in options {
        let point = Point::from_values(&space, [("x", option.clone())]).unwrap();
        let back = space.to_string().parse::<Space>().unwrap().parse_point(&point.to_string()).unwrap();
        assert_eq!(back.get("x"), Some(&option));
    }
    let error = Point::from_values(&space, [("x", "65")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"`x` was given "65", expected one of 64, 64.0, "64", true, "true", none, "none""#
    );
    let ints = Space::new().int("n", 0, 100, IntOptions::default()).unwrap();
    assert_eq!(
        Point::from_values(&ints, [("n", 64.0)]).unwrap_err().to_string(),
        "`n` was given 64.0, expected a whole number"
    );
}

#[test]
fn conditions_hold_in_both_directions() {
    let space: Space =
        "Space(opt=choice(adam|sgd|lion),m=real(0,0.99) when opt=sgd|lion,n=int(1,3) when opt=sgd)"
            .parse()
            .unwrap();
    let point = space.parse_point("opt=sgd,m=0.9,n=2").unwrap();
    assert_eq!((point.len(), point.get("n")), (3, Some(&Scalar::Int(2))));
    let point = space.parse_point("opt=adam").unwrap();
    assert_eq!((point.len(), point.get("m"), point.to_string().as_str()), (1, None, "opt=adam"));
    let refused = [
        ("opt=adam,m=0.9", "the point has `m`, expected it only when opt=sgd|lion"),
        ("opt=sgd,m=0.5", "the point has no `n`, expected a value for it"),
        ("opt=sgd,m=0.5,m=0.5,n=1", "the point has `m` twice, expected it once"),
        ("opt=sgd,m=1.5,n=1", "`m` was given 1.5, expected 0 to 0.99"),
        ("opt=sgd,mm=0.5,n=1", "the point names `mm`, which is not in the space, expected `opt`, `m`, `n`"),
        ("opt=sdg", "`opt` was given sdg, expected one of adam, sgd, lion"),
    ];
    for (text, said) in refused {
        assert_eq!(space.parse_point(text).unwrap_err().to_string(), said);
    }
}

#[test]
fn conditions_that_cannot_hold_are_refused() {
    let space = Space::new()
        .choice("opt", ["adam", "sgd"])
        .unwrap()
        .real("m", 0.0, 1.0, RealOptions::default())
        .unwrap();
    let none: [&str; 0] = [];
    let refused = [
        (space.when("opt", ["sdg"]), "`m` is conditional on `opt` being sdg, expected adam, sgd"),
        (space.when("opt", none), "`m` is conditional on `opt` being nothing, expected adam, sgd"),
        (space.when("ops", ["sgd"]), "`m` is conditional on `ops`, which is not a dimension before it"),
        (space.when("m", ["sgd"]), "`m` is conditional on `m`, which is not a dimension before it"),
        (
            Space::new().when("m", ["sgd"]),
            "a condition was given to an empty space, expected a dimension before it",
        ),
        (
            space.choice("z", [1]).unwrap().when("m", [0.5]),
            "`z` is conditional on `m`, which is real, expected a choice or an int",
        ),
    ];
    for (result, text) in refused {
        assert_eq!(result.unwrap_err().to_string(), text);
    }
    assert_eq!(space.when("ops", ["sgd"]).unwrap_err().hint().as_deref(), Some("did you mean `opt`?"));
}

#[test]
fn text_that_does_not_read_shows_the_place() {
    let refused = [
        (
            "Space(lr=logreal(1;2))",
            "the space does not read: expected a number, found `1;2` at character 18\n    Space(lr=logreal(1;2))\n                     ^",
        ),
        (
            "lr=unreal(1,2)",
            "the space does not read: expected `real`, `logreal`, `int`, `logint` or `choice`, found `unreal` at character 4\n    lr=unreal(1,2)\n       ^",
        ),
        (
            "Space(lr=real(0,1)",
            "the space does not read: expected `,`, ` when ` or `)`, found the end at character 19\n    Space(lr=real(0,1)\n                      ^",
        ),
        (
            "x=choice(\"a)",
            "the space does not read: expected `\"` at the end of the word, found a quote that is not closed at character 10\n    x=choice(\"a)\n             ^",
        ),
        (
            "x=choice(True)",
            "the space does not read: expected `none`, `true`, `false`, or the word in quotes, found `True` at character 10\n    x=choice(True)\n             ^",
        ),
        (
            "x=int(0,99999999999999999999)",
            "the space does not read: expected a whole number from -2^63 to 2^63-1, found `99999999999999999999` at character 9\n    x=int(0,99999999999999999999)\n            ^",
        ),
    ];
    for (text, said) in refused {
        let error = text.parse::<Space>().unwrap_err();
        assert_eq!(error.to_string(), said);
        assert!(error.hint().is_some());
    }
    let long = format!("{}=real(0,1),y=nothing", "x".repeat(500));
    let said = long.parse::<Space>().unwrap_err().to_string();
    assert!(said.lines().all(|line| line.len() < 150), "{said}");
    assert_eq!(said.lines().nth(2).unwrap().find('^'), said.lines().nth(1).unwrap().find("nothing"));
}

#[test]
fn steps_are_decimal_and_checked() {
    let space: Space = "x=real(0,1,step=0.1),n=int(1,10,step=4)".parse().unwrap();
    assert_eq!(space.size(), Some(33));
    assert_eq!(space.parse_point("x=0.30000000000000004,n=5").unwrap().to_string(), "x=0.3,n=5");
    assert_eq!(
        space.parse_point("x=0.35,n=5").unwrap_err().to_string(),
        "`x` was given 0.35, expected 0 plus a whole number of steps of 0.1"
    );
    assert_eq!(
        space.parse_point("x=0.3,n=6").unwrap_err().to_string(),
        "`n` was given 6, expected 1 plus a whole number of steps of 4"
    );
}

#[test]
fn a_space_knows_its_size() {
    let sizes = [
        ("Space()", Some(1)),
        ("a=choice(1|2|3),b=int(0,4)", Some(15)),
        ("a=choice(1|2|3),b=int(0,4) when a=2", Some(7)),
        ("a=choice(1|2|3),b=int(0,4) when a=2|3,c=choice(x|y) when b=0", Some(1 + 6 + 6)),
        ("a=real(0,1)", None),
        ("a=real(1,1)", Some(1)),
        ("a=choice(1|2),b=real(0,1) when a=2", None),
        ("a=int(-9223372036854775808,9223372036854775807)", None),
        ("a=int(-9223372036854775808,9223372036854775806)", Some(u64::MAX)),
        ("a=int(0,4294967295),b=int(0,4294967295)", None),
    ];
    for (text, size) in sizes {
        assert_eq!(text.parse::<Space>().unwrap().size(), size, "{text}");
    }
}

#[test]
fn spaces_that_differ_in_names_or_kinds_say_how() {
    let space: Space = "lr=logreal(0.1,1),n=int(1,3)".parse().unwrap();
    let differences = [
        ("lr=real(0,1),n=int(1,30)", None),
        ("lr=real(0,1)", Some("`n` is missing")),
        ("lr=real(0,1),n=choice(1|2)", Some("`n` was int and is choice")),
        ("lr=real(0,1),n=int(1,3),x=int(0,1)", Some("`x` is new")),
        ("n=int(1,3),lr=real(0,1)", Some("`n` stands where `lr` stood")),
    ];
    for (text, said) in differences {
        assert_eq!(space.difference(&text.parse().unwrap()).as_deref(), said);
    }
}

#[test]
fn hundreds_of_dimensions_and_long_words_are_no_trouble() {
    let mut space = Space::new();
    for i in 0..200 {
        space = space.choice(&format!("{i:040}"), [String::from("x").repeat(5000), i.to_string()]).unwrap();
    }
    assert_eq!(space.to_string().parse::<Space>().unwrap(), space);
    assert!(matches!(space.dimensions()[199].domain, Domain::Choice { .. }));
}
