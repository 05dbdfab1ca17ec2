import { expect, test } from 'vitest'
import { formatPhone, plainPhone } from './phone.ts'

test.each([
  ['16505550123', '+1 650-555-0123'],
  ['491701234567', '+49 170 1234567'],
  ['+491701234567', '+49 170 1234567'],
  ['79161234567', '+7 916 1234567'],
  ['351912345678', '+351 912 345678'],
  ['85291234567', '+852 912 34567'],
  ['15550', '+1 555 0'],
  ['', ''],
])('formatPhone(%j) is %j', (digits, text) => {
  expect(formatPhone(digits)).toBe(text)
})

test.each(['16505550123', '491701234567', '351912345678'])('the formatted number %s can be pasted back', (digits) => {
  expect(plainPhone(formatPhone(digits))).toBe(`+${digits}`)
})
