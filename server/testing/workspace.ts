import type { Scope } from '@parley/contract/scopes'
import { scopes as allScopes } from '@parley/contract/scopes'
import { createKey, type Key, type KeyInput } from '../src/domain/keys/keys.ts'
import { createWorkspace } from '../src/domain/workspaces/workspaces.ts'
import type { ApiResponse, CallOptions } from './call.ts'
import type { TestServer } from './test-server.ts'

/** A workspace with one key that has all scopes. */
export interface TestWorkspace {
  id: string
  key: Key
  secret: string
  newKey(input?: Partial<Omit<KeyInput, 'workspaceId'>>): Promise<{ key: Key; secret: string }>
  /** Calls the API with the workspace's key. */
  call(path: string, options?: CallOptions): Promise<ApiResponse>
}

export async function newWorkspace(server: TestServer, name = 'Test'): Promise<TestWorkspace> {
  const workspace = await createWorkspace(server.db, server.clock, name)
  const newKey = (input: Partial<Omit<KeyInput, 'workspaceId'>> = {}) =>
    createKey(server.db, server.clock, {
      name: 'test key',
      scopes: allScopes satisfies Scope[],
      rateLimitPerMin: 100,
      createdBy: 'test',
      ...input,
      workspaceId: workspace.id,
    })
  const { key, secret } = await newKey()
  return {
    id: workspace.id,
    key,
    secret,
    newKey,
    call: (path, options) => server.call(path, { key: secret, ...options }),
  }
}
