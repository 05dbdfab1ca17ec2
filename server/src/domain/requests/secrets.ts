/** API keys and signing secrets that a client put where they do not belong: into a path, a user agent, a name. */
const secret = /(prl_live_|whsec_)[\w+/=%-]*/g
const secretStart = /prl_live_|whsec_/

export const hasSecret = (text: string): boolean => secretStart.test(text)

export const withoutSecrets = (text: string): string => (hasSecret(text) ? text.replaceAll(secret, '$1…') : text)
