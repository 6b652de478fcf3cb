-- The audit trail in sums, so that nobody has to scan it to see how things go.

CREATE TABLE traffic_minutes (
    minute    timestamptz NOT NULL,
    operation text NOT NULL,
    outcome   text NOT NULL,
    bucket    smallint NOT NULL CHECK (bucket BETWEEN 0 AND 79),
    requests  bigint NOT NULL CHECK (requests > 0),
    PRIMARY KEY (minute, operation, outcome, bucket)
);

COMMENT ON TABLE traffic_minutes IS 'How many requests a minute saw, by what came of them and how long they took. Kept for eight days.';
COMMENT ON COLUMN traffic_minutes.minute IS 'The minute, by its beginning.';
COMMENT ON COLUMN traffic_minutes.operation IS 'What was asked for, as in the trail.';
COMMENT ON COLUMN traffic_minutes.outcome IS 'The code of the error; empty where all went well.';
COMMENT ON COLUMN traffic_minutes.bucket IS 'How long they took: bucket n begins at 0.05 ms times 2 to the power of n/4.';
COMMENT ON COLUMN traffic_minutes.requests IS 'How many.';

CREATE TABLE service_minutes (
    minute         timestamptz NOT NULL,
    application_id uuid NOT NULL,
    requests       bigint NOT NULL CHECK (requests > 0),
    limited        bigint NOT NULL CHECK (limited BETWEEN 0 AND requests),
    PRIMARY KEY (minute, application_id)
);

COMMENT ON TABLE service_minutes IS 'How many requests each service sent in a minute. Kept for eight days.';
COMMENT ON COLUMN service_minutes.minute IS 'The minute, by its beginning.';
COMMENT ON COLUMN service_minutes.application_id IS 'The calling service.';
COMMENT ON COLUMN service_minutes.requests IS 'How many requests.';
COMMENT ON COLUMN service_minutes.limited IS 'How many of them were refused for being too many.';

CREATE TABLE key_use_days (
    key_id       uuid NOT NULL,
    day          date NOT NULL,
    uses         bigint NOT NULL CHECK (uses > 0),
    last_used_at timestamptz NOT NULL,
    PRIMARY KEY (key_id, day)
);

COMMENT ON TABLE key_use_days IS 'How often each key did something, by days, so that one sees whether it can go.';
COMMENT ON COLUMN key_use_days.key_id IS 'Which key.';
COMMENT ON COLUMN key_use_days.day IS 'The day, in UTC.';
COMMENT ON COLUMN key_use_days.uses IS 'Requests that it served.';
COMMENT ON COLUMN key_use_days.last_used_at IS 'The last of them.';

CREATE TABLE traffic_progress (
    sole         boolean PRIMARY KEY DEFAULT true CHECK (sole),
    summed_up_to timestamptz
);

COMMENT ON TABLE traffic_progress IS 'One row: how far the trail is summed up. Whoever sums locks it.';
COMMENT ON COLUMN traffic_progress.sole IS 'Holds the table to one row.';
COMMENT ON COLUMN traffic_progress.summed_up_to IS 'Everything before this is in the sums; null before the first time.';

INSERT INTO traffic_progress DEFAULT VALUES;
