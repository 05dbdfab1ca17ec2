#!/usr/bin/env node
// The command `parley`, as `npx parley` finds it.
import process from 'node:process'

process.argv.splice(2, 0, 'parley')
import('./run.mjs')
