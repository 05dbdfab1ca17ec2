import { locale } from '../../lib/format.ts'

/** Formats a decimal string as money without converting it to a float, which could change the amount. */
export function formatMoney(amount: string | null, currency: string | null): string {
  if (amount === null) return '–'
  if (currency === null || !/^[A-Z]{3}$/.test(currency)) return [amount, currency].filter(Boolean).join(' ')
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency })
  // Intl formats decimal strings exactly, but the type only allows numbers.
  return format.format(amount as unknown as number)
}
