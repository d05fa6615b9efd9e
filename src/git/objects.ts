export { CorruptObject } from './objects/errors.ts'
export { ObjectDatabase } from './objects/object-database.ts'
export {
  type Commit,
  type GitObject,
  type Ident,
  type ObjectKind,
  type Oid,
  type TreeEntry,
  dateProblem,
  encodeCommit,
  encodeTree,
  firstParent,
  hashObject,
  parseCommit,
  parseTag,
  parseTree,
} from './objects/object.ts'
