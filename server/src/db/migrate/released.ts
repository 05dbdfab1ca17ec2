/**
 * The schema version of the last release: processes of that version run together with this one during an upgrade. It is raised
 * when a release is made, to the number of its last migration.
 */
export const releasedVersion = 56
