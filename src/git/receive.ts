export { IncomingObjects } from './receive/incoming-objects.ts'
export type { PackStream } from './receive/index-pack.ts'
