//! Bodies that are refused before they are read.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use testkit::{UNPROTECT_BATCH, World};

/// Less than the largest body, and more than the buffers of a connection.
const SIZE: usize = 30 << 20;

/// A proxy could treat a connection that closes while it sends as a failure of the instance.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_still_sends_its_body_receives_the_refusal() {
    let world = World::new().await;
    let address = world.served(None).await;
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let head = format!(
        "POST {UNPROTECT_BATCH} HTTP/1.1\r\nhost: it\r\nauthorization: Bearer nonsense\r\n\
         content-type: application/json\r\ncontent-length: {SIZE}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.expect("the service reads the headers");
    stream.write_all(&vec![b' '; SIZE]).await.expect("the service reads the body");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("the service closes without a reset");
    assert!(response.starts_with("HTTP/1.1 401 "), "{response}");
}
