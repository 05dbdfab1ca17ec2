/** Calling codes with one or two digits (ITU E.164); every other code has three. */
const shortCallingCode = /^(1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/

/** Numbers come as digits with the country code: 16505550123 is shown as +1 650-555-0123. Copies and links keep the digits. */
export function formatPhone(phone: string): string {
  const digits = phone.replaceAll(/\D/g, '')
  if (digits === '') return phone
  if (/^1\d{10}$/.test(digits)) return `+1 ${digits.slice(1, 4)}-${digits.slice(4, 7)}-${digits.slice(7)}`
  const code = shortCallingCode.exec(digits)?.[0] ?? digits.slice(0, 3)
  const national = digits.slice(code.length)
  return `+${[code, national.slice(0, 3), national.slice(3)].filter(Boolean).join(' ')}`
}

/** A typed or pasted number as the API takes it: without spaces, brackets, dots and hyphens. */
export const plainPhone = (text: string) => text.replaceAll(/[\s().-]/g, '')
