import type { Scope } from '@parley/contract/scopes'
import { scopes as allScopes } from '@parley/contract/scopes'
import { createKey, type Key, type KeyWish } from '../src/domain/keys/keys.ts'
import { createWorkspace } from '../src/domain/workspaces/workspaces.ts'
import type { Answer, CallOptions } from './call.ts'
import type { House } from './house.ts'

/** A workspace with one key that may do everything. */
export interface TestWorkspace {
  id: string
  key: Key
  secret: string
  newKey(wish?: Partial<Omit<KeyWish, 'workspaceId'>>): Promise<{ key: Key; secret: string }>
  /** Calls the API with the workspace's key. */
  call(path: string, options?: CallOptions): Promise<Answer>
}

export async function newWorkspace(house: House, name = 'Test'): Promise<TestWorkspace> {
  const workspace = await createWorkspace(house.db, house.clock, name)
  const newKey = (wish: Partial<Omit<KeyWish, 'workspaceId'>> = {}) =>
    createKey(house.db, house.clock, {
      name: 'test key',
      scopes: allScopes satisfies Scope[],
      budget: 100,
      createdBy: 'test',
      ...wish,
      workspaceId: workspace.id,
    })
  const { key, secret } = await newKey()
  return {
    id: workspace.id,
    key,
    secret,
    newKey,
    call: (path, options) => house.call(path, { key: secret, ...options }),
  }
}
