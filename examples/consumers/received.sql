-- Where the consumers of this folder note what they have received: the place of your own work.
CREATE TABLE IF NOT EXISTS received (
    consumer   text NOT NULL,
    message_id text NOT NULL,
    subject    text NOT NULL
);
