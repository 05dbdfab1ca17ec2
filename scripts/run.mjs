#!/usr/bin/env node
// What every npm script goes through. Only words that any Node of the last years understands: an old one is to be told so,
// not to stumble over syntax.
import process from 'node:process'

const oldest = 20

if (Number(process.versions.node.split('.')[0]) < oldest) {
  console.error(
    `Parley needs Node ${oldest} or later to start; this is Node ${process.versions.node} (${process.execPath}).`,
  )
  process.exitCode = 1
} else {
  const [, , name, ...args] = process.argv
  import('./launch.mjs')
    .then(({ launch }) => launch(name, args))
    .catch((error) => {
      console.error(error.message)
      process.exitCode = 1
    })
}
