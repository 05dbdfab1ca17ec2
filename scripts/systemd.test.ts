import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../server/testing/temp-folder.ts'
import { serviceFlags } from './launch.mjs'

const root = join(import.meta.dirname, '..')
const unit = readFileSync(join(root, 'packaging', 'parley.service'), 'utf8')

test('the unit runs the service with the same settings as npm start, without privileges', () => {
  expect(unit).toContain(`node ${serviceFlags.join(' ')} /opt/parley/cli/dist/main.mjs start\n`)
  for (const line of [
    'User=parley',
    'NoNewPrivileges=yes',
    'CapabilityBoundingSet=',
    'ProtectSystem=strict',
    'ProtectHome=yes',
    'PrivateTmp=yes',
    'StateDirectory=parley',
    'SystemCallFilter=@system-service',
    // Longer than the service takes to stop.
    'TimeoutStopSec=20',
    'KillMode=mixed',
  ])
    expect(unit.split('\n')).toContain(line)
  expect(unit).not.toMatch(/^MemoryDenyWriteExecute/m)
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test.skipIf(!hasSystemd)('systemd-analyze finds no fault in the unit, and a low exposure', () => {
  const file = join(tempFolder(), 'parley.service')
  // It checks that the program exists.
  writeFileSync(file, unit.replaceAll('/opt/parley/node_modules/.bin/node', process.execPath))
  const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' })
  expect([verified.status, verified.stderr.split('\n').filter((line) => line.includes(file))]).toEqual([0, []])
  const options = ['security', '--offline=true', '--no-pager', '--threshold=20', file]
  const security = spawnSync('systemd-analyze', options, { encoding: 'utf8' })
  expect(security.stdout).toMatch(/Overall exposure level for parley\.service: [01]\.\d OK/)
})
