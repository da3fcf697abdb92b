//! Choices drawn from a list of numbers, so that a shorter list of smaller numbers makes a simpler input.

pub(crate) struct Dice {
    choices: Vec<u16>,
    at: usize,
}

impl Dice {
    pub(crate) fn new(choices: Vec<u16>) -> Self {
        Self { choices, at: 0 }
    }

    /// A number below `bound`; 0 once the choices have run out.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let choice = self.choices.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        (usize::from(choice) * bound) >> 16
    }

    /// Whether nothing but the simplest is left.
    pub(crate) fn spent(&self) -> bool {
        self.at >= self.choices.len()
    }

    /// True `percent` times in a hundred; false when the choices have run out.
    pub(crate) fn often(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    /// Up to `most` pieces, one after the other.
    pub(crate) fn some(&mut self, most: usize, mut one: impl FnMut(&mut Self) -> String) -> Vec<String> {
        let count = self.below(most + 1);
        (0..count).map(|_| one(self)).collect()
    }

    /// One place of a text changed: something taken away, doubled, or put in between.
    pub(crate) fn mutate(&mut self, text: &str, between: &[&str]) -> String {
        let chars: Vec<char> = text.chars().collect();
        let from = self.below(chars.len() + 1);
        let to = (from + 1 + self.below(4)).min(chars.len());
        let (head, cut, rest) = (&chars[..from], &chars[from..to], &chars[to..]);
        let middle: String = match self.below(3) {
            0 => String::new(),
            1 => cut.iter().chain(cut).collect(),
            _ => self.pick(between).chars().chain(cut.iter().copied()).collect(),
        };
        head.iter().copied().chain(middle.chars()).chain(rest.iter().copied()).collect()
    }
}
