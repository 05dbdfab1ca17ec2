/** How people start this program, and what its help says. The package of the SDK has `packaged/program.ts` instead. */
export interface Program {
  /** As it is typed. */
  name: string
  /** Whether it can open the database of an installation. Otherwise it uses the API only. */
  hasDatabase: boolean
  about: string
  examples: readonly string[]
  settings: string
}

export const program: Program = {
  name: './parley',
  hasDatabase: true,
  about: 'Run and manage Parley, a self-hosted messaging service for WhatsApp.',
  examples: [
    'start',
    'workspace create --name "Acme"',
    'key create --workspace ID --name "Shop" --scope messages:send',
  ],
  settings:
    'Settings are environment variables such as DATABASE_URL, PARLEY_DATA_DIR and PORT. docs/run/configuration.md lists all of them.',
}
