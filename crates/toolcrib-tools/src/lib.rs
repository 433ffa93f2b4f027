//! The built-in tools of Toolcrib: one folder a tool, each with its code and the description that models read.
//!
//! To add a tool: write its folder, add one line to [`register_builtins`].

pub mod apply_patch;
pub mod build_dependency_graph;
pub mod command_input;
pub mod command_output;
pub mod delete_file;
pub mod detect_project_type;
pub mod edit_file;
pub mod extract_conventions;
pub mod find_references;
pub mod get_codebase_map;
pub mod get_imports_exports;
pub mod get_project_overview;
pub mod get_symbol_info;
pub mod glob;
pub mod grep;
pub mod list_directory;
pub mod list_projects;
pub mod profiles;
pub mod read_file;
pub mod resolve_symbol;
pub mod run_command;
pub mod search_code;
pub mod stop_command;
mod support;
pub mod todo_read;
pub mod todo_write;
pub mod undo_changes;
pub mod write_file;

pub use support::code::CodeEngine;
pub use support::commands::CommandSpill;
/// What tools that run commands share: judging them, watching them, showing what they printed.
pub mod commands {
    pub use crate::support::commands::{
        CommandSpill, Withheld, ceil, directory, display, effects, excerpt, exit_code, failed, millis,
        not_started, seconds, shown, surroundings, typed, watch, withheld, withheld_from,
    };
}
pub use support::paths::WorkspacePaths;
pub use support::sessions::{SessionState, SessionStates, Todo, TodoStatus};
pub use support::spill::WorkspaceSpill;

use toolcrib_core::permission::Permission;
use toolcrib_core::registry::RegisterError;
use toolcrib_core::{Registry, Services};
use toolcrib_process::{Commands, Table};
use toolcrib_workspace::{ReadWorkspace, Workspace};

/// Registers every built-in tool, in the order in which models see them.
pub fn register_builtins(registry: &Registry, workspace: &ReadWorkspace) -> Result<(), RegisterError> {
    registry.register(read_file::ReadFile)?;
    registry.register(write_file::WriteFile)?;
    registry.register(edit_file::EditFile)?;
    registry.register(apply_patch::ApplyPatch)?;
    registry.register(delete_file::DeleteFile)?;
    registry.register(list_directory::ListDirectory)?;
    registry.register(glob::Glob)?;
    registry.register(grep::Grep)?;
    registry.register(get_project_overview::GetProjectOverview)?;
    registry.register(detect_project_type::DetectProjectType)?;
    registry.register(extract_conventions::ExtractConventions)?;
    registry.register(list_projects::ListProjects)?;
    registry.register(run_command::RunCommand::new(workspace.clone()))?;
    registry.register(command_output::CommandOutput)?;
    registry.register(command_input::CommandInput::new(workspace.clone()))?;
    registry.register(stop_command::StopCommand)?;
    registry.register(search_code::SearchCode)?;
    registry.register(get_symbol_info::GetSymbolInfo)?;
    registry.register(resolve_symbol::ResolveSymbol)?;
    registry.register(find_references::FindReferences)?;
    registry.register(get_codebase_map::GetCodebaseMap)?;
    registry.register(get_imports_exports::GetImportsExports)?;
    registry.register(build_dependency_graph::BuildDependencyGraph)?;
    registry.register(undo_changes::UndoChanges)?;
    registry.register(todo_write::TodoWrite)?;
    registry.register(todo_read::TodoRead)?;
    Ok(())
}

/// The services that the built-in tools need: only tools that write files get the workspace that can, and only those
/// that run commands the engine that does.
pub fn services(
    workspace: &Workspace,
    sessions: SessionStates,
    code: CodeEngine,
    commands: Commands,
    table: Table,
) -> Services {
    Services::new()
        .with(workspace.read_only())
        .with_for(Permission::Write, workspace.clone())
        .with(sessions)
        .with(code)
        .with_for(Permission::Execute, commands)
        .with(table)
}
