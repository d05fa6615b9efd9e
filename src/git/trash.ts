export { fencing } from './trash/fence.ts'
export {
  type FolderMove,
  STAMP_FILE,
  TRASH_FOLDER,
  liveFolder,
  moveFolder,
  purgeMark,
} from './trash/folder-move.ts'
