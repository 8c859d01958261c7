//! Topics: the last skill of a topic in the order of the cascade wins.

use relay_bundle::SkillIndexView;

use super::resolution::Matched;

/// Returns rising skills, each with the skill that wins over it.
pub(super) fn override_by_topic(index: &SkillIndexView<'_>, skills: &[u32]) -> Vec<Matched> {
    let mut matched: Vec<Matched> =
        skills.iter().map(|skill| Matched { skill: *skill, overridden_by: None }).collect();
    if index.has_topics() {
        let mut winners = Winners::with_room(skills.len());
        for it in matched.iter_mut().rev() {
            let Some(topic) = index.topic(it.skill) else { continue };
            it.overridden_by = winners.get_or_insert(topic, it.skill);
        }
    }
    matched
}

/// The skill that wins in each topic: a hash table as small as the answer, since a call has few of
/// the topics.
struct Winners {
    slots: Vec<Slot>,
    /// One less than the number of slots, which is a power of two.
    mask: usize,
}

#[derive(Clone, Copy)]
struct Slot {
    /// The topic + 1; 0 if the slot is free.
    topic: u32,
    skill: u32,
}

impl Winners {
    /// Returns a table for this many topics, half of it free when full.
    fn with_room(topics: usize) -> Self {
        let slots = (topics * 2).next_power_of_two();
        Self { slots: vec![Slot { topic: 0, skill: 0 }; slots], mask: slots - 1 }
    }

    /// Returns the earlier winner of a topic, or else makes this skill the winner.
    fn get_or_insert(&mut self, topic: u32, skill: u32) -> Option<u32> {
        // Topics of one question may be evenly apart; a multiplication by the golden ratio spreads
        // them over the slots (Knuth, The Art of Computer Programming 3, 6.4).
        let mut place = (topic.wrapping_mul(0x9e37_79b9) >> 12) as usize;
        loop {
            let slot = self.slots.get_mut(place & self.mask)?;
            if slot.topic == 0 {
                *slot = Slot { topic: topic + 1, skill };
                return None;
            }
            if slot.topic == topic + 1 {
                return Some(slot.skill);
            }
            place += 1;
        }
    }
}
