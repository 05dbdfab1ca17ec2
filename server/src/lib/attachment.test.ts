import { expect, test } from 'vitest'
import { attachment, servedType } from './attachment.ts'

test.each([
  ['photo.jpg', 'photo.jpg', 'photo.jpg'],
  ['../../etc/passwd', 'passwd', 'passwd'],
  ['C:\\temp\\a.txt', 'a.txt', 'a.txt'],
  ['a"; filename="b.exe', 'a__ filename__b.exe', 'a%22%3B%20filename%3D%22b.exe'],
  ['a\r\nSet-Cookie: x=1', 'aSet-Cookie_ x_1', 'aSet-Cookie%3A%20x%3D1'],
  ['\u202egpj.exe', 'gpj.exe', 'gpj.exe'],
  ['.htaccess', 'htaccess', 'htaccess'],
  ['naïve (1)*.pdf', 'na_ve _1__.pdf', 'na%C3%AFve%20%281%29%2A.pdf'],
  ['\ud83dx', '_x', '%EF%BF%BDx'],
  ['..', 'fallback', 'fallback'],
  ['\0\u0007', 'fallback', 'fallback'],
])('the file name %j becomes %j', (name, plain, encoded) => {
  expect(attachment(name, 'fallback')).toBe(`attachment; filename="${plain}"; filename*=UTF-8''${encoded}`)
})

test('the header is one line of limited length for any file name', () => {
  for (const name of ['x'.repeat(100_000), '😀'.repeat(5000), '\n'.repeat(1000)]) {
    expect(attachment(name, 'f')).toMatch(/^[ -~]{1,3000}$/)
  }
})

const jpeg = Buffer.from([0xff, 0xd8, 0xff])

test.each([
  ['image/jpeg', jpeg, 'image/jpeg'],
  ['IMAGE/JPEG; charset=x', jpeg, 'image/jpeg'],
  ['audio/ogg; codecs=opus', Buffer.from('OggS'), 'audio/ogg'],
  ['application/pdf', Buffer.from('%PDF-1.4'), 'application/pdf'],
  ['text/html', jpeg, 'application/octet-stream'],
  ['image/svg+xml', jpeg, 'application/octet-stream'],
  ['application/javascript', jpeg, 'application/octet-stream'],
  ['image/jpeg\r\nX: y', jpeg, 'application/octet-stream'],
  ['', jpeg, 'application/octet-stream'],
  ['image/png', Buffer.from('<!doctype html>'), 'application/octet-stream'],
  ['image/png', Buffer.from('\ufeff \n<svg onload=x>'), 'application/octet-stream'],
  ['text/plain', Buffer.from('\ufffe<html>', 'utf16le'), 'application/octet-stream'],
  ['text/plain', Buffer.alloc(0), 'text/plain'],
])('a file of claimed type %j is served with a safe type', (claimed, start, served) => {
  expect(servedType(claimed, start)).toBe(served)
})
