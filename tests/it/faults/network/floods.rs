//! HTTP/2 clients that send cheap frames endlessly or hold idle connections.

use std::net::SocketAddr;
use std::time::Duration;

use sealward::server::Patience;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc;

use super::frames::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GET_LIVEZ, GET_OPENAPI, GET_SIGN_IN, GOAWAY,
    HEADERS, PING, POST_PROTECT, RST_STREAM, SETTINGS, WINDOW_UPDATE, ZERO_WINDOW, connect, frame,
    read,
};
use crate::support::{PATIENCE, World, within};

const USUAL: Patience = Patience {
    headers: Duration::from_secs(60),
    idle: Duration::from_secs(60),
    age: Duration::from_secs(3_600),
};

/// Sends the frames of `next` until the server closes the connection. Panics after `most` bytes.
async fn flood(address: SocketAddr, most: usize, mut next: impl FnMut(u32) -> Vec<u8>) {
    let (mut from, mut to) = connect(address).await;
    let reading = tokio::spawn(async move {
        let mut is_notified = false;
        while let Some((kind, _, _)) = read(&mut from).await {
            is_notified |= kind == GOAWAY;
        }
        is_notified
    });
    let flooding = async {
        let mut sent = 0;
        for number in 0.. {
            let bytes = next(number);
            sent += bytes.len();
            assert!(sent < most, "{sent} bytes were accepted");
            if to.write_all(&bytes).await.is_err() {
                break;
            }
        }
    };
    let flooded = tokio::time::timeout(PATIENCE, flooding).await;
    flooded.expect("the connection ends");
    // A reset can overtake the GOAWAY frame. The connection ends in both cases.
    tokio::time::timeout(PATIENCE, reading)
        .await
        .expect("the connection ends")
        .expect("frames");
}

/// Asserts that the server answers an HTTP/2 request.
async fn is_served(address: SocketAddr) {
    let (mut from, mut to) = connect(address).await;
    let request = frame(HEADERS, END_HEADERS | END_STREAM, 1, GET_LIVEZ);
    to.write_all(&request).await.expect("send data");
    loop {
        let (kind, stream, payload) = read(&mut from).await.expect("an answer");
        if (kind, stream) == (DATA, 1) {
            assert_eq!(payload, br#"{"status":"ok"}"#);
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_stream_resets_close_the_connection() {
    let world = World::new().await;
    let (address, _) = world.with_limits(8, USUAL).await;
    let cancel = 8_u32.to_be_bytes();
    flood(address, 64 << 20, |number| {
        let stream = number * 2 + 1;
        let mut bytes = frame(HEADERS, END_HEADERS | END_STREAM, stream, GET_LIVEZ);
        bytes.extend(frame(RST_STREAM, 0, stream, &cancel));
        bytes
    })
    .await;
    is_served(address).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_headers_close_the_connection() {
    let world = World::new().await;
    let (address, _) = world.with_limits(8, USUAL).await;
    // A literal without indexing: a name and a value of one kilobyte.
    let mut literal = b"\x00\x01x\x7f\x81\x07".to_vec();
    literal.resize(6 + 1024, b'y');
    flood(address, 64 << 20, |number| match number {
        0 => frame(HEADERS, END_STREAM, 1, GET_LIVEZ),
        _ => frame(CONTINUATION, 0, 1, &literal),
    })
    .await;
    is_served(address).await;
}

const SHORT: Patience = Patience {
    headers: Duration::from_secs(1),
    idle: Duration::from_secs(2),
    age: Duration::from_secs(3_600),
};

const OUR_PING: [u8; 8] = [0; 8];

/// Waits until the server closes the connection, while the client answers pings and sends the frames of
/// `next` again and again.
async fn is_ended(address: SocketAddr, first: Vec<u8>, mut next: impl FnMut() -> Vec<u8>) {
    let (mut from, mut to) = connect(address).await;
    to.write_all(&first).await.expect("send data");
    let (pinged, mut pings) = mpsc::unbounded_channel::<Vec<u8>>();
    let alive = async {
        loop {
            let mut bytes = next();
            while let Ok(theirs) = pings.try_recv() {
                bytes.extend(frame(PING, ACK, 0, &theirs));
            }
            if to.write_all(&bytes).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let reading = async {
        while let Some((kind, _, payload)) = read(&mut from).await {
            if kind == PING && payload != OUR_PING {
                pinged.send(payload).expect("queue the ping");
            }
        }
    };
    let ended = async {
        tokio::select! { () = alive => {}, () = reading => {} }
    };
    let ended = tokio::time::timeout(PATIENCE, ended).await;
    ended.expect("the connection ends");
}

fn request(stream: u32, head: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, head)
}

/// The request on stream 1 for a long response, without a flow-control window.
fn unread_response() -> Vec<u8> {
    let closed = frame(SETTINGS, 0, 0, ZERO_WINDOW);
    [closed, request(1, GET_OPENAPI)].concat()
}

/// A proxy sends the requests of several clients on one connection.
#[tokio::test(flavor = "multi_thread")]
async fn an_unread_response_ends_its_stream_and_not_its_connection() {
    let world = World::new().await;
    let (address, _) = world.with_limits(8, SHORT).await;
    let (mut from, mut to) = connect(address).await;
    to.write_all(&unread_response()).await.expect("send data");
    let mut stream = 3;
    let (mut is_reset, mut is_answered) = (false, false);
    let reading = async {
        while !(is_reset && is_answered) {
            let other = request(stream, GET_LIVEZ);
            let window = |stream| frame(WINDOW_UPDATE, 0, stream, &1_024_u32.to_be_bytes());
            let bytes = [other, window(stream), window(0)].concat();
            to.write_all(&bytes).await.expect("send data");
            loop {
                match read(&mut from).await.expect("an open connection") {
                    (PING, _, payload) if payload != OUR_PING => {
                        let answer = frame(PING, ACK, 0, &payload);
                        to.write_all(&answer).await.expect("send data");
                    }
                    (RST_STREAM, 1, reason) => {
                        assert_eq!(reason, 8_u32.to_be_bytes());
                        is_reset = true;
                    }
                    (DATA, number, payload) if number == stream && !payload.is_empty() => break,
                    _ => {}
                }
            }
            is_answered = is_reset;
            stream += 2;
        }
    };
    let read = tokio::time::timeout(PATIENCE, reading).await;
    read.expect("the end of the stream");
}

/// The bodies arrive after the responses, as those of honest clients do. A proxy sends the requests of
/// several clients on one connection.
#[tokio::test(flavor = "multi_thread")]
async fn early_refusals_reset_no_streams() {
    let world = World::new().await;
    let (address, _) = world.with_limits(8, USUAL).await;
    let (mut from, mut to) = connect(address).await;
    // The larger windows of the server apply from the acknowledgement of its settings.
    read(&mut from).await.expect("the settings");
    let known = frame(SETTINGS, ACK, 0, b"");
    to.write_all(&known).await.expect("send data");
    let (part, last) = (vec![b' '; 16_000], vec![b' '; 6_000]);
    for number in 0..120 {
        let stream = 2 * number + 1;
        let begun = frame(HEADERS, END_HEADERS, stream, POST_PROTECT);
        to.write_all(&begun).await.expect("send data");
        loop {
            let (kind, of, _) = read(&mut from).await.expect("an open connection");
            assert!(kind != GOAWAY && kind != RST_STREAM, "{kind} {number}");
            if (kind, of) == (HEADERS, stream) {
                break;
            }
        }
        let mut rest = [(); 4].map(|()| frame(DATA, 0, stream, &part)).concat();
        rest.extend(frame(DATA, END_STREAM, stream, &last));
        to.write_all(&rest).await.expect("send data");
    }
    let end = frame(PING, 0, 0, &[7; 8]);
    to.write_all(&end).await.expect("send data");
    loop {
        let (kind, _, payload) = read(&mut from).await.expect("an open connection");
        assert!(kind != GOAWAY && kind != RST_STREAM, "{kind}");
        if kind == PING && payload == [7; 8] {
            break;
        }
    }
}

/// The requests, of about ten bytes each, have no flow-control window for their responses.
#[tokio::test(flavor = "multi_thread")]
async fn unread_responses_of_one_network_use_little_memory() {
    let world = World::new().await;
    let (address, open) = world.with_limits(64, USUAL).await;
    let mut connections = Vec::new();
    let mut resets = 0;
    for _ in 0..48 {
        let (mut from, mut to) = connect(address).await;
        let mut bytes = frame(SETTINGS, 0, 0, ZERO_WINDOW);
        for number in 0..100 {
            bytes.extend(request(2 * number + 1, GET_SIGN_IN));
        }
        to.write_all(&bytes).await.expect("send data");
        let mut answered = 0;
        while answered < 100 {
            let (kind, _, _) = read(&mut from).await.expect("an open connection");
            answered += u32::from(kind == HEADERS || kind == RST_STREAM);
            resets += u32::from(kind == RST_STREAM);
        }
        connections.push((from, to));
    }
    assert!((100..3_000).contains(&resets), "{resets}");
    drop(connections);
    within(PATIENCE, async || open.open() == 0).await;
    is_served(address).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pings_alone_do_not_keep_a_connection_open() {
    let world = World::new().await;
    let (address, connections) = world.with_limits(8, SHORT).await;
    let ping = || frame(PING, 0, 0, &OUR_PING);
    // No request, no request after a response, and a response without flow-control window.
    is_ended(address, Vec::new(), ping).await;
    is_ended(address, request(1, GET_LIVEZ), ping).await;
    is_ended(address, unread_response(), ping).await;
    within(PATIENCE, async || connections.open() == 0).await;
    is_served(address).await;
}
