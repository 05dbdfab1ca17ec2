/** What is wrong with an email address, as far as can be told without asking. */
export const emailError = (address: string) =>
  /^\S+@\S+$/.test(address.trim()) ? undefined : 'Enter an e-mail address, such as ana@example.com.'
