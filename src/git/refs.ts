export { type AllRefs, isSameRefs, readAllRefs } from './refs/list-refs.ts'
export { replaceRefs } from './refs/packed-refs.ts'
export { RefMoved } from './refs/ref-move.ts'
export { type RefSnapshot, type SavedRefs, assertRef, isRefName, isRefTarget } from './refs/ref-store.ts'
