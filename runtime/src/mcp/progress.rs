//! Progress of a call for a client that sent a token: how long it runs.

use std::pin::pin;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::time::{Instant, interval_at, timeout};

/// The interval of notifications. Some clients end a call of which they hear nothing for a minute.
const INTERVAL: Duration = Duration::from_secs(5);
/// The longest wait for a client that does not read: its answer is more important.
const NOTIFY_MAX: Duration = Duration::from_secs(1);

/// Waits for `answer`, and meanwhile notifies the client every five seconds, if it sent a token.
pub(super) async fn during<T>(
    context: &RequestContext<RoleServer>,
    answer: impl Future<Output = T>,
) -> T {
    let Some(token) = context.meta.get_progress_token() else { return answer.await };
    let mut answer = pin!(answer);
    let begun = Instant::now();
    let mut ticks = interval_at(begun + INTERVAL, INTERVAL);
    loop {
        tokio::select! {
            biased;
            answer = &mut answer => return answer,
            _ = ticks.tick() => {}
        }
        let seconds = begun.elapsed().as_secs();
        let params = ProgressNotificationParam::new(token.clone(), seconds as f64)
            .with_message(format!("not ended yet after {seconds} seconds"));
        // A failure is ignored: a client that left needs no progress.
        _ = timeout(NOTIFY_MAX, context.peer.notify_progress(params)).await;
    }
}
