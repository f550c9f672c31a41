# cmake -D OBJDUMP=… -D OBJCOPY=… -D ARCHIVE=libx.a -P nth_code_section.cmake
#
# Renames all sections of code (.text, .text.f, .text.unlikely.f, …) of an archive's objects to nth_code. They stay apart:
# the linker still drops those that a program does not call, and keeps one of each group of equal ones.
execute_process(COMMAND ${OBJDUMP} -h ${ARCHIVE}
  OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " \\.text[^ ]*" sections "${headers}")
list(TRANSFORM sections STRIP)
list(REMOVE_DUPLICATES sections)
list(TRANSFORM sections REPLACE ".+" "--rename-section \\0=nth_code")
list(JOIN sections "\n" words)
file(WRITE ${ARCHIVE}.sections "${words}\n")
execute_process(COMMAND ${OBJCOPY} @${ARCHIVE}.sections ${ARCHIVE} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${ARCHIVE}.sections)
