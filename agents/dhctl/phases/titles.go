package phases

// Titles is what people read for a phase or sub-phase, by locale.
type Titles map[string]string

// Catalog holds the titles of every phase.
var Catalog = map[string]Titles{
	BaseInfra:                              {"en": "Base infrastructure", "ru": "Базовая инфраструктура"},
	RegistryPackagesProxyBundle:            {"en": "Package proxy", "ru": "Прокси пакетов"},
	ExecuteBashibleBundle:                  {"en": "Preparing the first node", "ru": "Подготовка первого узла"},
	InstallDeckhouse:                       {"en": "Installing the platform", "ru": "Установка платформы"},
	InstallAdditionalMastersAndStaticNodes: {"en": "Creating nodes", "ru": "Создание узлов"},
	CreateResources:                        {"en": "Creating resources", "ru": "Создание ресурсов"},
	ExecPostBootstrap:                      {"en": "Running the final script", "ru": "Выполнение завершающего скрипта"},
	Finalization:                           {"en": "Final checks", "ru": "Завершающие проверки"},
	Check:                                  {"en": "Comparing with the configuration", "ru": "Сравнение с конфигурацией"},
	CheckInfra:                             {"en": "Checking infrastructure", "ru": "Проверка инфраструктуры"},
	CheckConfiguration:                     {"en": "Checking configuration", "ru": "Проверка конфигурации"},
	AllNodes:                               {"en": "Nodes", "ru": "Узлы"},
	ScaleToMultiMaster:                     {"en": "Adding control-plane nodes", "ru": "Добавление узлов управления"},
	DeckhouseConfiguration:                 {"en": "Platform configuration", "ru": "Конфигурация платформы"},
	Scan:                                   {"en": "Reading the cluster", "ru": "Чтение кластера"},
	Capture:                                {"en": "Taking the cluster over", "ru": "Принятие кластера под управление"},
	Detach:                                 {"en": "Releasing the cluster", "ru": "Освобождение кластера"},
	DeleteResources:                        {"en": "Deleting resources", "ru": "Удаление ресурсов"},
}

// SubCatalog holds the titles of every sub-phase.
var SubCatalog = map[string]Titles{
	ConnectToMaster:         {"en": "Connecting to the API server", "ru": "Подключение к API-серверу"},
	InstallDeckhouse:        {"en": "Writing down the configuration", "ru": "Запись конфигурации"},
	WaitForFirstMasterReady: {"en": "Waiting for the control plane", "ru": "Ожидание готовности управляющего слоя"},
	CheckInfra:              {"en": "Checking infrastructure", "ru": "Проверка инфраструктуры"},
	CheckConfiguration:      {"en": "Checking configuration", "ru": "Проверка конфигурации"},
}
