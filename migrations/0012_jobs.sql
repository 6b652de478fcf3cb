-- The jobs that one instance at a time runs.

CREATE TABLE job_leaders (
    job    text PRIMARY KEY CHECK (octet_length(job) <= 100),
    -- One that the service cannot read would hide the other jobs.
    led_at timestamptz NOT NULL CHECK (led_at >= '2000-01-01' AND led_at < '9999-01-01'),
    mac    bytea CHECK (octet_length(mac) <= 64)
);

COMMENT ON TABLE job_leaders IS 'When an instance last had each job that one instance at a time runs, so that the others see that none has it.';
COMMENT ON COLUMN job_leaders.job IS 'The name of the job, as in the metrics.';
COMMENT ON COLUMN job_leaders.led_at IS 'The last time at which an instance marked that it has the job.';
COMMENT ON COLUMN job_leaders.mac IS 'The generation of the row key, and its MAC of the job and the time; null without the row key. A mark with another one does not count.';
