-- The jobs that one instance at a time runs.

CREATE TABLE job_leaders (
    job    text PRIMARY KEY,
    led_at timestamptz NOT NULL
);

COMMENT ON TABLE job_leaders IS 'When an instance last had each job that one instance at a time runs, so that the others see that none has it.';
COMMENT ON COLUMN job_leaders.job IS 'The name of the job, as in the metrics.';
COMMENT ON COLUMN job_leaders.led_at IS 'The last time at which an instance marked that it has the job.';
