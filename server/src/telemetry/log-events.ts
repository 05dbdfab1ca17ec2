interface LogEventEntry {
  level: 'debug' | 'info' | 'warn' | 'error'
  /** What happened, what follows from it, and what the operator should do. */
  meaning: string
}

/** Every event the service logs. `docs/reference/logs.md` has them as a table; a test compares it with this list. */
export const logEvents = {
  'changes.listen_failed': {
    level: 'warn',
    meaning:
      'The connection that listens for changes of other processes failed. Console pages refresh later until it is back.',
  },
  'clock.agrees': { level: 'info', meaning: 'The clock of this machine is correct again. The process takes work.' },
  'clock.jumped': {
    level: 'warn',
    meaning:
      'The database clock jumped by more than a day. Nothing expires for a day. Correct the clock if it is wrong.',
  },
  'clock.skewed': {
    level: 'error',
    meaning:
      'The clock of this machine differs from the database by more than 15 seconds. The process takes no work. Correct the clock.',
  },
  'contact.erased': {
    level: 'info',
    meaning: 'The erasure of a contact has ended. The counts say what was removed.',
  },
  'content.removed': {
    level: 'info',
    meaning: 'The contents of messages older than PARLEY_CONTENT_RETENTION_DAYS were removed.',
  },
  'credits.balance_wrong': {
    level: 'error',
    meaning: 'The balance of a workspace is not the sum of its entries. Report it: this is a bug.',
  },
  'database.cannot_write': {
    level: 'error',
    meaning:
      'PostgreSQL cannot write: its disk is full, or fails. Requests and /readyz get 503. At most one line a minute.',
  },
  'database.connection_lost': {
    level: 'warn',
    meaning: 'A connection was closed by PostgreSQL or went silent. The pool opens a new one.',
  },
  'database.few_connections': {
    level: 'warn',
    meaning:
      'PostgreSQL does not allow the connections that the processes may open. Raise max_connections or lower PARLEY_DATABASE_POOL.',
  },
  'database.replica_fallback': {
    level: 'warn',
    meaning:
      'The console reads from the primary only, because the replica is behind, away or not a standby of it. `reason` says which.',
  },
  'database.replica_used': { level: 'info', meaning: 'The console reads lists, exports and counts from the replica.' },
  'database.start_waits': {
    level: 'warn',
    meaning:
      'At the start, PostgreSQL had no connection left, was starting or read-only. The start is retried for 30 seconds.',
  },
  'delivery.attempt_crashed': {
    level: 'error',
    meaning: 'A delivery attempt failed for an unexpected reason. It is retried. Report it: this is a bug.',
  },
  'delivery.attempt_failed': {
    level: 'debug',
    meaning:
      'An endpoint did not accept an event. The delivery is retried unless this was its last attempt. `error` and `status` say why.',
  },
  'delivery.expired': {
    level: 'warn',
    meaning: 'Deliveries were held until their events were past the retention, and were deleted.',
  },
  'delivery.hand_over_failed': {
    level: 'warn',
    meaning:
      'A worker could not read deliveries that another process handed over. They are claimed when their leases end.',
  },
  'delivery.next_failed': {
    level: 'warn',
    meaning: 'The next deliveries of ordered conversations could not be started. A worker starts them within seconds.',
  },
  'delivery.recording_failed': {
    level: 'warn',
    meaning: 'The results of delivery attempts could not be written. The process retries until the database is back.',
  },
  'file.fetch_crashed': {
    level: 'warn',
    meaning: 'Downloading a file failed for an unexpected reason. It is retried.',
  },
  'file.fetch_failed': {
    level: 'warn',
    meaning: 'WhatsApp did not serve a file. `next` says whether the download is retried.',
  },
  'file.recording_failed': {
    level: 'warn',
    meaning: 'The result of a download could not be written. The download is repeated.',
  },
  'files.damaged': {
    level: 'error',
    meaning:
      'The stored bytes of a file are missing or changed, so it was not moved to the file store. `error` says which.',
  },
  'files.store_available': { level: 'info', meaning: 'The file store works again.' },
  'files.store_failed': {
    level: 'error',
    meaning:
      'The file store in PARLEY_FILES_URL failed: `error` says why, `count` how often. At most one line in 10 s.',
  },
  'files.store_not_set': {
    level: 'error',
    meaning: 'Files are in a file store, and this process has no PARLEY_FILES_URL: requests for them get 503. Set it.',
  },
  'http.database_unavailable': { level: 'warn', meaning: 'A request got 503 because the database was unavailable.' },
  'http.overload': {
    level: 'warn',
    meaning:
      'Connections or requests exceeded a limit, named in `limit`. `count` is how many since its last line, at most one in 10 s.',
  },
  'http.request_failed': {
    level: 'error',
    meaning: 'A request got 500 for an unexpected reason. `err` has the stack. Report it: this is a bug.',
  },
  'loop.failed': {
    level: 'warn',
    meaning:
      'A background loop failed. It runs again after its usual interval. `loop` names it, and `step` the step of maintenance.',
  },
  'mail.dropped': {
    level: 'info',
    meaning: 'An email was not sent: it was too late, or its recipient has no account or a disabled one.',
  },
  'mail.failed': {
    level: 'error',
    meaning:
      'An email was dropped: the mail server rejected it, or did not accept it for a day. `error` has the reason.',
  },
  'mail.retried': {
    level: 'warn',
    meaning:
      'The mail server did not accept an email. It is retried. `error` has the reason. `parley doctor` checks the server.',
  },
  'mail.sent': { level: 'info', meaning: 'The mail server accepted an email. `kind` says what it is about.' },
  'maintenance.lost': {
    level: 'warn',
    meaning:
      'Another process took over the maintenance, because this one was frozen, cut off from the database or overloaded.',
  },
  'maintenance.taken': {
    level: 'info',
    meaning:
      'This process took over the maintenance for all: partitions, retention, deleting expired rows, checking the ledger.',
  },
  'media.upload_failed': {
    level: 'warn',
    meaning:
      'WhatsApp did not accept an uploaded file that a message needs. The message is retried, or fails with the error.',
  },
  'messages.moved': {
    level: 'info',
    meaning: 'Inbound messages older than ten days were moved to a table of older messages.',
  },
  'migration.progress': {
    level: 'info',
    meaning:
      'A migration changes many rows, a few thousand at a time, while the service runs. The message says how far it is.',
  },
  'migration.started': {
    level: 'info',
    meaning:
      'The service migrates the database before it starts, from schema version `from` to `to`. Long steps log `migration.progress`.',
  },
  'migration.waits': {
    level: 'info',
    meaning:
      'A migration waits until a table is free, or until another process has migrated. If it lasts, look for long transactions.',
  },
  'network.notice': { level: 'info', meaning: 'WhatsApp sent a notice about an account or a number.' },
  'network.problem': {
    level: 'warn',
    meaning: 'WhatsApp reported a problem with a number. `network_code` is its error code.',
  },
  'outbox.not_sent': {
    level: 'warn',
    meaning: 'WhatsApp did not accept a message. `outcome` says whether it failed, is retried, or is unknown.',
  },
  'outbox.send_failed': {
    level: 'warn',
    meaning: 'Sending failed for an unexpected reason. When the lease ends, the message is retried or marked unknown.',
  },
  'parked_updates.batch_failed': {
    level: 'warn',
    meaning: 'Publishing a batch of parked updates failed. They are published one at a time.',
  },
  'parked_updates.expired': {
    level: 'warn',
    meaning: 'Parked updates were deleted: no sync found their numbers within the retention.',
  },
  'parked_updates.release_failed': {
    level: 'error',
    meaning: 'A parked update could not be published. It is retried in 5 minutes.',
  },
  'parked_updates.released': {
    level: 'info',
    meaning: 'Parked updates were published because a sync found their number.',
  },
  'partition.drop_failed': { level: 'error', meaning: 'An expired partition could not be dropped. It is retried.' },
  'partition.drop_postponed': { level: 'info', meaning: 'An expired partition is in use. It is dropped later.' },
  'partition.dropped': { level: 'info', meaning: 'An expired partition was dropped.' },
  'partition.indexed': {
    level: 'info',
    meaning: 'A new index was built for a partition, after an upgrade or a restore.',
  },
  'replay.completed': {
    level: 'info',
    meaning: 'Every event of a replay was delivered or has failed permanently: `delivered` and `failed` of `total`.',
  },
  'replay.taken_over': {
    level: 'info',
    meaning: 'This process continues a replay of a process that is gone, from the position that was stored last.',
  },
  'read_receipt.failed': {
    level: 'warn',
    meaning: 'Marking a message as read failed for an unexpected reason. It is tried again when the lease ends.',
  },
  'read_receipt.not_sent': {
    level: 'warn',
    meaning:
      'WhatsApp rejected marking a message as read (`network_code`), or it failed for a day (`outcome` is `expired`).',
  },
  'request_contents.failed': {
    level: 'error',
    meaning:
      'The contents of a request could not be redacted, so they are not stored. Its response and the request log are not affected.',
  },
  'request_contents.lost': {
    level: 'error',
    meaning: 'Bodies or error responses of requests were not stored: the database was too slow or down.',
  },
  'request_log.entries_lost': {
    level: 'error',
    meaning:
      'Requests are missing from the request log: too many of their workspace waited for the database, or it rejected them.',
  },
  'request_log.entry_failed': { level: 'error', meaning: 'One request could not be written to the request log.' },
  'request_log.write_failed': { level: 'warn', meaning: 'Requests could not be recorded. It is retried.' },
  'resolver.recovered': { level: 'info', meaning: 'The name servers of this installation respond again.' },
  'resolver.no_response': {
    level: 'warn',
    meaning:
      'The name servers of this installation do not respond. Deliveries whose names are not cached wait. At most once a minute.',
  },
  'schema.unusable': {
    level: 'error',
    meaning:
      'The database was restored, or migrated to a schema that this process cannot use. The process takes no work. Start the newer version.',
  },
  'schema.usable': { level: 'info', meaning: 'This process can use the schema of the database again. It takes work.' },
  'service.stop_failed': { level: 'warn', meaning: 'One step of the shutdown failed. The remaining steps still run.' },
  'sync.failed': {
    level: 'warn',
    meaning: 'Reading the numbers and templates of a connection failed. It is retried. `error` has the reason.',
  },
  'sync.finished': { level: 'debug', meaning: 'The numbers and templates of a connection were read.' },
  'sync.numbers_not_listed': {
    level: 'warn',
    meaning: 'Updates stay parked because their account does not list the numbers they name.',
  },
  'tracing.export_failed': {
    level: 'warn',
    meaning:
      'The OpenTelemetry collector did not accept spans. They are sent again a few times, then dropped. Logged at most once a minute.',
  },
  'update.not_connected': {
    level: 'info',
    meaning: 'An update names no account, or an account that is not connected through this app. Only operators see it.',
  },
  'update.parked': { level: 'info', meaning: 'An update for a number that is not synced yet waits for the next sync.' },
  'update.reread': {
    level: 'info',
    meaning: 'Stored updates were read again. `understood` is how many of them were read completely.',
  },
  'update.reread_failed': {
    level: 'error',
    meaning: 'A stored update could not be read again. It stays as it is.',
  },
  'webhook.disabled': {
    level: 'warn',
    meaning: 'A webhook was disabled after 20 failures in a row. Its deliveries are held until it is enabled.',
  },
  'webhook.read_failed': {
    level: 'warn',
    meaning: 'Webhooks could not be read from the database. No attempt begins until the database is back.',
  },
  'webhook.read_slow': {
    level: 'warn',
    meaning:
      'Reading webhooks from the database takes longer than 100 ms. Deliveries continue. Until a read ends, a changed webhook may get attempts with its old settings.',
  },
  'webhook.secret_unreadable': {
    level: 'error',
    meaning:
      'The secret of a webhook cannot be decrypted. Its deliveries wait. Add the key to PARLEY_SECRET_KEYS or rotate the secret.',
  },
  'webhook.steps_ended': {
    level: 'info',
    meaning:
      'Work on all deliveries of a webhook has ended. `work` is release, delete, retry or rotate; `deliveries` is how many it changed.',
  },
} as const satisfies Record<string, LogEventEntry>

export type LogEvent = keyof typeof logEvents
