/** The signing secret of an endpoint. */
import { randomBytes } from 'node:crypto'
import { type SecretKeys, seal } from '../../lib/seal.ts'
import { secretPrefix } from '../deliveries/engine/attempt/signature.ts'
import { webhookSecretContext } from '../deliveries/engine/attempt/targets.ts'

/** `whsec_<4 chars>...<4 chars>` */
export function hintOf(secret: string): string {
  const random = secret.slice(secretPrefix.length)
  return `${secretPrefix}${random.slice(0, 4)}...${random.slice(-4)}`
}

/** A new secret: as it is shown once, and encrypted. */
export function newSecret(keys: SecretKeys, id: string) {
  const secret = secretPrefix + randomBytes(32).toString('base64')
  return { secret, secretHint: hintOf(secret), secretSealed: seal(keys, secret, webhookSecretContext(id)) }
}
