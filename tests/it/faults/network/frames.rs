//! HTTP/2 frames that a normal client does not send.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

/// Marks the response to a ping.
pub(super) const ACK: u8 = 1;
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

/// `GET /livez` of the host `it` in HPACK, with names of the static table and literals.
pub(super) const GET_LIVEZ: &[u8] = b"\x82\x86\x04\x06/livez\x41\x02it";
/// `POST /api/v1/protect` with a body of 70,000 bytes.
pub(super) const POST_PROTECT: &[u8] =
    b"\x83\x86\x04\x0f/api/v1/protect\x41\x02it\x0f\x0d\x0570000";
/// `GET /openapi.json`, which has a long response.
pub(super) const GET_OPENAPI: &[u8] = b"\x82\x86\x04\x0d/openapi.json\x41\x02it";

/// `GET /dashboard/sign-in`, a page that each response has a copy of.
pub(super) const GET_SIGN_IN: &[u8] = b"\x82\x86\x04\x12/dashboard/sign-in\x41\x02it";

/// The setting of an initial window of zero bytes.
pub(super) const ZERO_WINDOW: &[u8] = &[0, 4, 0, 0, 0, 0];

/// Encodes a frame.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .expect("a length")
        .to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Opens a connection and sends the preface.
pub(super) async fn connect(address: SocketAddr) -> (OwnedReadHalf, OwnedWriteHalf) {
    let stream = TcpStream::connect(address).await.expect("a connection");
    let (from, mut to) = stream.into_split();
    let preface = [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(SETTINGS, 0, 0, b""),
    ];
    to.write_all(&preface.concat()).await.expect("send data");
    (from, to)
}

/// Reads a frame: its kind, stream and payload. `None` if the connection ended.
pub(super) async fn read(from: &mut OwnedReadHalf) -> Option<(u8, u32, Vec<u8>)> {
    let mut head = [0; 9];
    from.read_exact(&mut head).await.ok()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
    let mut payload = vec![0; usize::try_from(length).expect("a length")];
    from.read_exact(&mut payload).await.ok()?;
    Some((head[3], stream, payload))
}
