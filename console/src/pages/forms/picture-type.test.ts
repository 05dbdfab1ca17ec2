import { expect, test } from 'vitest'
import { pictureTypeOf } from './picture-type.ts'

const bytes = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0))

test.each([
  ['\x89PNG\r\n\x1a\n....', 'image/png'],
  ['\xff\xd8\xff\xe0....', 'image/jpeg'],
  ['GIF89a....', 'image/gif'],
  ['RIFF....WEBPVP8 ', 'image/webp'],
  ['RIFF....WAVEfmt ', null],
  ['<svg xmlns="http://www.w3.org/2000/svg">', null],
  ['<html><script>alert(1)</script>', null],
  ['%PDF-1.7', null],
  ['', null],
])('%j is shown only if it begins like a picture', (text, type) => {
  expect(pictureTypeOf(bytes(text))).toBe(type)
})
