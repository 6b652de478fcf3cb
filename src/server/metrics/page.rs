//! Writes metrics: the name and the description once, then the values with their labels.

use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use formats::clock::Timestamp;

/// The labels of a value.
pub(super) type Labels<'a> = [(&'static str, &'a str)];

/// A page of metrics.
pub(super) struct Page<'a>(pub(super) DescriptorEncoder<'a>);

impl Page<'_> {
    /// A metric that writes itself.
    pub(super) fn metric(
        &mut self,
        name: &'static str,
        help: &'static str,
        kind: MetricType,
        write: impl FnOnce(MetricEncoder<'_>) -> fmt::Result,
    ) -> fmt::Result {
        write(self.0.encode_descriptor(name, help, None, kind)?)
    }

    /// A gauge with labels.
    pub(super) fn gauges<'v>(
        &mut self,
        name: &'static str,
        help: &'static str,
        values: impl IntoIterator<Item = (Vec<(&'static str, &'v str)>, f64)>,
    ) -> fmt::Result {
        self.metric(name, help, MetricType::Gauge, |mut encoder| {
            for (labels, value) in values {
                let labels: &Labels<'_> = &labels;
                encoder.encode_family(&labels)?.encode_gauge(&value)?;
            }
            Ok(())
        })
    }

    /// A gauge. Without a value it is absent.
    pub(super) fn gauge(
        &mut self,
        name: &'static str,
        help: &'static str,
        value: impl Into<Option<f64>>,
    ) -> fmt::Result {
        let value = value.into();
        self.metric(name, help, MetricType::Gauge, |mut encoder| {
            value.map_or(Ok(()), |value| encoder.encode_gauge(&value))
        })
    }

    /// A counter with labels. Its name gets the suffix `_total`.
    pub(super) fn counters<'v>(
        &mut self,
        name: &'static str,
        help: &'static str,
        values: impl IntoIterator<Item = (Vec<(&'static str, &'v str)>, u64)>,
    ) -> fmt::Result {
        self.metric(name, help, MetricType::Counter, |mut encoder| {
            for (labels, value) in values {
                let labels: &Labels<'_> = &labels;
                encoder
                    .encode_family(&labels)?
                    .encode_counter::<NoLabelSet, _, f64>(&value, None)?;
            }
            Ok(())
        })
    }
}

pub(super) fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

/// A time as a Unix time.
pub(super) fn unix(at: Timestamp) -> f64 {
    seconds(Duration::from_millis(at.as_millis().unsigned_abs()))
}

/// A number that fits. A count beyond 2^53 is wrong by one part in 2^53.
pub(super) fn exact(number: u64) -> f64 {
    number as f64
}

pub(super) fn count(number: usize) -> f64 {
    exact(u64::try_from(number).unwrap_or(u64::MAX))
}

/// 1 if true, else 0.
pub(super) fn flag(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}
