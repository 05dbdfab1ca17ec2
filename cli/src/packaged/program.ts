import type { Program } from '../program.ts'

export const program: Program = {
  name: 'npx parley',
  hasDatabase: false,
  about: 'Use Parley, a self-hosted messaging service for WhatsApp, with an API key.',
  examples: [
    'listen --forward-to http://localhost:3000/hook',
    'send --to 491701234567 --text "Hello"',
    'events --follow',
  ],
  settings:
    'Set PARLEY_URL and PARLEY_API_KEY, or run "npx parley login" once. All other commands need the database: an operator runs them on the server, with ./parley.',
}
