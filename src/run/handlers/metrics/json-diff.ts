import { entriesOf, isJsonArray, isJsonObject, type Json } from '../../../base/json.ts'
import { typeWord } from '../handler-failure.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import { equalLoosely } from './equal-loosely.ts'

/** How documents are compared. */
export interface JsonDiffOptions {
  /** Compares types instead of values; integer and float differ. */
  readonly comparesTypesOnly: boolean
  /** Also counts leaves that only the output has. */
  readonly countsExtraLeaves: boolean
  readonly ignoresKeyCase: boolean
}

/**
 * The share of leaves in which a document agrees with the expected one (interface 11.7); 1 for equal
 * documents. A leaf is any value except a non-empty object or array. Its path is its keys and indexes joined
 * by dots, so `{"a.b": 1}` and `{"a": {"b": 1}}` have the same; of two leaves with one path, the later
 * counts. Takes linear time; throws what `slice` does.
 */
export async function jsonDiff(
  expected: Json,
  actual: Json,
  options: JsonDiffOptions,
  slice: TimeSlice,
): Promise<number> {
  const root = new PathNode()
  const leaves = new Set<PathNode>()
  let count = 0
  for (const [node, value, isLeaf] of nodesOf(expected, root, options)) {
    node.expected = value
    if (isLeaf) leaves.add(node)
    if (++count % VALUES_BETWEEN_CLOCK_READS === 0) await slice.pause()
  }
  for (const [node, value, isLeaf] of nodesOf(actual, root, options)) {
    node.actual = value
    if (isLeaf && options.countsExtraLeaves) leaves.add(node)
    if (++count % VALUES_BETWEEN_CLOCK_READS === 0) await slice.pause()
  }
  let sum = 0
  for (const leaf of leaves) if (agrees(leaf, options)) sum++
  return sum / leaves.size
}

const VALUES_BETWEEN_CLOCK_READS = 1000

/** A node in a tree of paths: joined paths of deep documents would be far larger than the documents. */
class PathNode {
  #children: Map<string, PathNode> | undefined
  /** Undefined if the document has nothing at the path. */
  expected: Json | undefined
  actual: Json | undefined

  child(step: string): PathNode {
    this.#children ??= new Map()
    let child = this.#children.get(step)
    if (!child) this.#children.set(step, (child = new PathNode()))
    return child
  }
}

/** Every value of a document with its path, and whether it is a leaf. */
function* nodesOf(
  document: Json,
  root: PathNode,
  { ignoresKeyCase }: JsonDiffOptions,
): Generator<readonly [PathNode, Json, boolean]> {
  const whole = membersOf(document)
  yield [root, document, whole === undefined]
  const open = [{ node: root, members: whole }]
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const next = last.members?.next()
    if (next === undefined || next.done === true) {
      open.pop()
      continue
    }
    const [key, value] = next.value
    const node =
      typeof key === 'number' ? last.node.child(String(key)) : follow(last.node, key, ignoresKeyCase)
    const members = membersOf(value)
    yield [node, value, members === undefined]
    if (members) open.push({ node, members })
  }
}

/** The content of an object or array by key or index; undefined for an empty one or another value. */
function membersOf(value: Json): Iterator<readonly [string | number, Json]> | undefined {
  if (isJsonArray(value)) return value.length === 0 ? undefined : value.entries()
  const members = isJsonObject(value) ? entriesOf(value) : NONE
  return members.length === 0 ? undefined : members.values()
}

const NONE: readonly (readonly [string, Json])[] = []

function follow(node: PathNode, key: string, ignoresKeyCase: boolean): PathNode {
  const steps = ignoresKeyCase ? key.toLowerCase() : key
  return steps.includes('.') ? steps.split('.').reduce((at, step) => at.child(step), node) : node.child(steps)
}

function agrees({ expected, actual }: PathNode, { comparesTypesOnly }: JsonDiffOptions): boolean {
  if (expected === undefined || actual === undefined) return false
  return comparesTypesOnly ? typeWord(expected) === typeWord(actual) : equalLoosely(expected, actual)
}
