export { type FolderKeys, decodeFolderKeys } from './testsets/dedup/folder-keys.ts'
export { repeatedDedupIds } from './testsets/dedup/repeated-dedup-ids.ts'
export { ROW_KEYS_FILE, keyOfContent, keyOfDedupId } from './testsets/dedup/row-keys.ts'
export { writeTestsetFile } from './testsets/download-testset.ts'
export { isDelimiter } from './testsets/files/csv-rows.ts'
export {
  FILE_TYPES,
  type FileType,
  ROW_FILE_TYPES,
  ROW_MEDIA_TYPES,
  type RowFileType,
  isGzipName,
  rowFileType,
} from './testsets/files/file-type.ts'
export type { RowFile } from './testsets/files/read-file.ts'
export { collectFile } from './testsets/import/collect-file.ts'
export type { TestsetLimits } from './testsets/import/row-collector.ts'
export { type Uploaded, commitFile, createFromFile } from './testsets/import/upload-testset.ts'
export { READ_FLAGS, writeRows } from './testsets/present-testset.ts'
export { type ChangedPosition, changedPositions } from './testsets/rows/changed-positions.ts'
export { everyTestcase } from './testsets/rows/every-testcase.ts'
export {
  type TestcaseGroup,
  findTestcase,
  findTestcases,
  presentTestcaseAlone,
  writeTestcases,
} from './testsets/rows/find-testcases.ts'
export { type ChangeOfRow, assertFewRows, changesOfRow, rowOfDedupId } from './testsets/rows/row-changes.ts'
export { decodeRowFolder } from './testsets/rows/row-folder.ts'
export { rowPage, rowsBefore } from './testsets/rows/row-page.ts'
export type { RowPosition } from './testsets/rows/row-position.ts'
export { type RowProblem, rowProblems } from './testsets/rows/row-problems.ts'
export { countRows, rowAt, rowCounts, rowsOfTree } from './testsets/rows/row-tree.ts'
export {
  contentOf,
  decodeRow,
  dedupIdOf,
  encodeContent,
  encodeRow,
  generatedDedupId,
  inColumnOrder,
  objectIn,
} from './testsets/rows/stored-row.ts'
export { readBlobs, rowBytesOf } from './testsets/rows/stored-rows.ts'
export { cutIds, cutTestcases, pageOf } from './testsets/rows/testcase-windows.ts'
export { testcaseId } from './testsets/testcase.ts'
export { testsetFamily } from './testsets/testset-family.ts'
export { type StoredTestset, asStored } from './testsets/testset-payload.ts'
export { rowPath } from './testsets/testset-tree.ts'
