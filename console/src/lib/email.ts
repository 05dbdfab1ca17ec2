/** A first check in the browser; the service checks the address in full. */
export const emailError = (address: string) =>
  /^\S+@\S+$/.test(address.trim()) ? undefined : 'Enter an email address, for example ana@example.com.'
