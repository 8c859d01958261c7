//! A time limit for writing: a client that leaves its data unread is disconnected.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// A stream whose client must take all written data before the next flush within a time limit. The
/// limit begins when the client first takes less than all.
pub(super) struct WriteLimited<S> {
    stream: S,
    limit: Duration,
    /// When the client must have taken everything; set once, and reset for each wait.
    deadline: Option<Pin<Box<Sleep>>>,
    waiting: bool,
}

impl<S: AsyncWrite + Unpin> WriteLimited<S> {
    pub(super) fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, deadline: None, waiting: false }
    }

    /// Begins the wait, or fails if it has been too long.
    fn wait(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        if !self.waiting {
            self.waiting = true;
            deadline.as_mut().reset(Instant::now() + self.limit);
        }
        match deadline.as_mut().poll(context) {
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(()),
        }
    }

    /// Applies the limit to the result of writing.
    fn limited<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        // The same limit holds for a client that takes a little now and then.
        if written.is_pending() || self.waiting {
            self.wait(context)?;
        }
        written
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteLimited<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.limited(written, context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.limited(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper flushes after it has written everything.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        if flushed.is_ready() {
            this.waiting = false;
        }
        this.limited(flushed, context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let shut_down = Pin::new(&mut this.stream).poll_shutdown(context);
        this.limited(shut_down, context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteLimited<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::timeout;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_is_disconnected() {
        let (server, _client) = duplex(16);
        let mut server = WriteLimited::new(server, LIMIT);
        let error = server.write_all(&[0; 100]).await.expect_err("no one reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_a_byte_now_and_then_is_disconnected() {
        let (server, mut client) = duplex(16);
        let mut server = WriteLimited::new(server, LIMIT);
        let slow = tokio::spawn(async move {
            let mut byte = [0];
            while client.read(&mut byte).await.is_ok_and(|read| read > 0) {
                sleep(Duration::from_secs(1)).await;
            }
        });
        let error = server.write_all(&[0; 100]).await.expect_err("it is too slow");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(server);
        slow.await.expect("no panic");
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_between_two_answers_does_not_count() {
        let (server, mut client) = duplex(16);
        let mut server = WriteLimited::new(server, LIMIT);
        for _ in 0..3 {
            let taken = async {
                sleep(LIMIT / 2).await;
                client.read_exact(&mut [0; 40]).await
            };
            let written = async {
                server.write_all(&[0; 40]).await?;
                server.flush().await
            };
            let (written, taken) = tokio::join!(written, timeout(LIMIT * 2, taken));
            written.expect("it was taken in time");
            taken.expect("it came in time").expect("it came");
            sleep(LIMIT).await;
        }
    }
}
