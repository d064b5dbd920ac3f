//! Numbers with check digits, as formats of texts: books, cards, insurances.

/// The digits of a text without its dashes and spaces, `X` as ten; none if there is anything else.
fn digits(text: &str) -> Option<Vec<u32>> {
    text.chars()
        .filter(|c| !matches!(c, '-' | ' '))
        .map(|c| if c == 'X' { Some(10) } else { c.to_digit(10) })
        .collect()
}

/// A book's number of ten digits, the last checks the others.
pub(super) fn is_isbn10(text: &str) -> bool {
    digits(text).is_some_and(|digits| {
        let sum: u32 = digits
            .iter()
            .zip((1..=10).rev())
            .map(|(digit, weight)| digit * weight)
            .sum();
        digits.len() == 10 && digits.iter().rev().skip(1).all(|digit| *digit < 10) && sum.is_multiple_of(11)
    })
}

/// A book's number of thirteen digits.
pub(super) fn is_isbn13(text: &str) -> bool {
    digits(text).is_some_and(|digits| {
        let sum: u32 = digits
            .iter()
            .zip([1, 3].into_iter().cycle())
            .map(|(digit, weight)| digit * weight)
            .sum();
        digits.len() == 13 && digits.iter().all(|digit| *digit < 10) && sum.is_multiple_of(10)
    })
}

/// A card's number with a known first digit, checked by Luhn's sum.
pub(super) fn is_card(text: &str) -> bool {
    digits(text).is_some_and(|digits| {
        let doubled = |digit: u32| digit * 2 / 10 + digit * 2 % 10;
        let sum: u32 = digits
            .iter()
            .rev()
            .enumerate()
            .map(|(position, digit)| if position % 2 == 1 { doubled(*digit) } else { *digit })
            .sum();
        (13..=16).contains(&digits.len())
            && digits.iter().all(|digit| *digit < 10)
            && digits.first().is_some_and(|first| (3..=6).contains(first))
            && sum.is_multiple_of(10)
    })
}

/// An insurance number: three, two and four digits.
pub(super) fn is_ssn(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_digit();
    match text.split(['-', ' ']).collect::<Vec<_>>().as_slice() {
        [area, group, serial] => {
            (area.len(), group.len(), serial.len()) == (3, 2, 4)
                && [area, group, serial].iter().all(|part| part.bytes().all(plain))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_checked() {
        assert!(is_isbn10("0-306-40615-2") && !is_isbn10("0-306-40615-3"));
        assert!(is_isbn13("978-3-16-148410-0") && !is_isbn13("978-3-16-148410-1"));
        assert!(is_card("4111111111111111") && !is_card("4111-1111-1111-1112"));
        assert!(is_ssn("123-45-6789") && !is_ssn("123-456789"));
    }
}
