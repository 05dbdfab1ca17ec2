import { expect, test } from 'vitest'
import { serverUrls } from './database-settings.ts'

test.each<[string, string[]]>([
  ['postgresql://u:p@a/db', ['postgresql://u:p@a/db']],
  [
    'postgresql://u:p@a:1,b:2,c/db?target_session_attrs=read-write',
    [
      'postgresql://u:p@a:1/db?target_session_attrs=read-write',
      'postgresql://u:p@b:2/db?target_session_attrs=read-write',
      'postgresql://u:p@c/db?target_session_attrs=read-write',
    ],
  ],
  ['postgresql://u:p,q@a:1,[::1]:2/db', ['postgresql://u:p,q@a:1/db', 'postgresql://u:p,q@[::1]:2/db']],
  ['postgresql://a,b/db', ['postgresql://a/db', 'postgresql://b/db']],
  ['postgresql://u:p@/db?host=/run/a,b', ['postgresql://u:p@/db?host=/run/a,b']],
])('the servers in %s', (databaseUrl, urls) => {
  expect(serverUrls(databaseUrl)).toEqual(urls)
})
