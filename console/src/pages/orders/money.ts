/** An amount as people read it. It is a decimal string, and is never put through a float that could bend it. */
export function formatMoney(amount: string | null, currency: string | null): string {
  if (amount === null) return '–'
  if (currency === null || !/^[A-Z]{3}$/.test(currency)) return [amount, currency].filter(Boolean).join(' ')
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency })
  // As text it is formatted digit by digit; the types know numbers only.
  return format.format(amount as unknown as number)
}
