//! An open queue: a source that never dries up, a station, a way out.
//!
//! ```text
//!   (source) ─▶ [arrive] ─▶ (queue) ─▶ [leave]
//!       ▲──────────┘
//! ```

use headrace_net::{
    Builder, Discipline, Exponential, Infinite, Limits, Net, Node, Random, Span, TallyId, Time,
};

/// A customer: when it came, its class and how much service it needs.
#[derive(Clone, Copy)]
pub struct Customer {
    pub born: Time,
    pub class: u32,
    pub size: Span,
}

/// Demand of a customer: its class and size.
pub type Law = fn(&mut Random<'_>) -> (u32, Span);

/// The service time that a customer brings along.
pub fn size(customer: &Customer, _: &mut Random<'_>) -> Span {
    customer.size
}

/// The mean service time of every open queue here.
pub const SECOND: Span = Span::from_millis(1000);

/// One class, exponential with mean one second.
pub fn exponential(random: &mut Random<'_>) -> (u32, Span) {
    (0, random.exponential_span(SECOND))
}

pub struct Queue {
    pub net: Net,
    pub queue: Node<Customer>,
    /// Response times by class.
    pub response: [TallyId; 2],
}

impl Queue {
    /// Poisson arrivals, `rate` a second.
    pub fn new<D>(rate: f64, law: Law, discipline: D, seed: u64) -> Queue
    where
        D: Discipline<Customer> + Clone,
    {
        let mut builder = Builder::new("open", seed);
        let mut page = builder.root();
        let between = Exponential(Span::from_seconds(1.0 / rate));
        let source = page.station::<(), _>("source", Infinite(between));
        let queue = page.station("queue", discipline);
        page.transition("arrive")
            .take(source)
            .puts(source)
            .puts(queue)
            .fires(move |firing, (), ()| {
                firing.put(source, ());
                let (class, size) = law(&mut firing.random());
                let born = firing.now();
                firing.put(queue, Customer { born, class, size });
            });
        let response = [page.tally("response 0"), page.tally("response 1")];
        page.transition("leave")
            .take(queue)
            .fires(move |firing, customer, ()| {
                let stay = firing.now().since(customer.born).as_seconds();
                firing.record(response[customer.class as usize], stay);
            });
        page.tokens(source, |_| [()]);
        let net = builder.compile().expect("an open queue is a valid net");
        Queue {
            net,
            queue,
            response,
        }
    }

    /// Runs past the warm-up, then for another `seconds`.
    pub fn run(mut self, seconds: f64) -> Queue {
        let warm_up = 500.0;
        self.until(warm_up);
        self.net.reset_statistics();
        self.until(warm_up + seconds);
        self
    }

    fn until(&mut self, seconds: f64) {
        let limits = Limits::until_seconds(seconds);
        self.net.run(&limits).expect("an open queue never ends");
    }

    pub fn response(&self, class: usize) -> f64 {
        self.net.tally(self.response[class]).mean()
    }
}
