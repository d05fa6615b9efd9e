import type { Scope } from './scope.ts'

/** Who makes a request: the project it is confined to and the key, whose name and email become the git author. */
export interface Caller {
  readonly project: string
  readonly key: {
    readonly id: string
    readonly name: string
    readonly email: string
    readonly scopes: readonly Scope[]
  }
}
